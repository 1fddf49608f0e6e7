// Rotates the secrets of a system that works, as docs/security.md says: three times every process is restarted with other lists,
// those of a kind one after the other and in an order that the seed draws. Nothing may be refused or lost meanwhile, which the
// checks at the end of the run find.

import type { Random } from '../fixtures/random.js'
import { until } from '../fixtures/until.js'
import { ROTATION } from './credentials.js'
import type { Part } from './part.js'
import { shuffled } from './plan.js'
import type { World } from './world.js'

const KINDS = ['api', 'automation', 'worker'] as const
/** On a machine that is busy with something else. */
const READY_MS_MAX = 120_000

export async function rotateSecrets(world: World, random: Random, say: (line: string) => void): Promise<void> {
  for (const [step, credentials] of ROTATION) {
    say(`secrets: ${step}`)
    world.setCredentials(credentials)
    await Promise.all(
      KINDS.map((kind) =>
        restartInTurn(
          shuffled(
            world.parts.filter((part) => part.kind === kind),
            random,
          ),
        ),
      ),
    )
  }
}

async function restartInTurn(parts: readonly Part[]): Promise<void> {
  for (const part of parts) {
    await part.kill()
    part.start()
    await until(`${part.name} answers`, part.isAnswering, READY_MS_MAX)
  }
}
