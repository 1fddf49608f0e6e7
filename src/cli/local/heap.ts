// How far the heap of a process that runs for months may grow before what is dead in it is looked for.

import { setFlagsFromString } from 'node:v8'

/** Left alone, V8 on a machine with memory waits until the heap is four times what was live at its last look: `servo automation`, of
 *  whose heap some 65 MB are live, came to 250 to 370 MB of it, and dead buffers of files beside it waited as long. At twice as much
 *  an event took no more processor time (1.10 ms and 1.13, docs/performance.md). It says nothing of how large a heap may be. */
const GROWING_PERCENT = 100

/** To be called once a process, before it fills its heap. */
export const collectSooner = (): void => setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`)
