import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { systemClock } from '../../src/bin/clock.js'
import { createLocalStore } from '../../src/storage/local.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { testPacks } from './packs.js'

const folder = mkdtempSync(join(tmpdir(), 'servo-packs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

testPacks('memory', async () => createMemoryStore({ clock: systemClock, page_size: 4 }))
testPacks('a folder', async (prefix) => createLocalStore({ folder: join(folder, prefix), sync: false }))
