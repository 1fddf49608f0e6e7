// The coefficients and the prices that are written down, each with where it comes from.

import { readFileSync } from 'node:fs'
import type { Coefficients } from './measure.js'
import type { Prices } from './model.js'

export const COEFFICIENTS_FILE = new URL('./coefficients.json', import.meta.url)
const PRICES_FILE = new URL('./prices.json', import.meta.url)

const read = (file: URL): unknown => JSON.parse(readFileSync(file, 'utf8'))

export const readCoefficients = (): Coefficients => (read(COEFFICIENTS_FILE) as { readonly coefficients: Coefficients }).coefficients

export const readPrices = (): Prices => read(PRICES_FILE) as Prices
