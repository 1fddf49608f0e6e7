// What the settings of retention may be, each bound with its reason.

import { AS_OF_ALL_KEPT_MS, CLAIM_APPENDS_MS_MAX, CLAIM_KEPT_MS, DURATION_SECONDS_MAX } from './limits.js'
import { DAY_MS, HOUR_MS } from './time.js'

/** A repeat appends for six days, and may be folded late by a day: until then the key of the first one has to be known. */
export const IDEMPOTENCY_HOURS_MIN = (CLAIM_APPENDS_MS_MAX + DAY_MS) / HOUR_MS
/** A day longer than claims are kept: what comes later is a new request, and keys cost every look-up memory. */
export const IDEMPOTENCY_HOURS_MAX = (CLAIM_KEPT_MS + DAY_MS) / HOUR_MS
/** Whoever repeats a request for as long as it is appended learns why it was refused. */
export const REFUSALS_DAYS_MIN = (CLAIM_APPENDS_MS_MAX + DAY_MS) / DAY_MS
/** Rows expire, and move, by whole days. */
export const RETENTION_DAYS_MIN = 1
/** Every instant that is computed from it is a date, and what is to be kept longer belongs into a store of one's own. */
export const RETENTION_DAYS_MAX = Math.floor(DURATION_SECONDS_MAX / 86_400)
/** All of the last hour is kept anyhow. */
export const AS_OF_MINUTES_HOURS_MIN = AS_OF_ALL_KEPT_MS / HOUR_MS
/** 10,080 revisions: each look of collection opens the checkpoints below what is kept. */
export const AS_OF_MINUTES_HOURS_MAX = 168
export const AS_OF_HOURS_DAYS_MIN = 1
/** 8,784 revisions, for the same reason. */
export const AS_OF_HOURS_DAYS_MAX = 366
