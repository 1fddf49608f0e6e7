// The guard of `servo dev`: a process of its own that does nothing until its input closes, which it does however
// `servo dev` ends, by SIGKILL too. Then it ends what is still written down, in order. Children cannot do this themselves:
// Temporal is not ours, and a worker may be busy with a user's code.

import { messageOf } from '../../../core/errors.js'
import { endRecorded } from './records.js'

const [data_folder] = process.argv.slice(2)
const say = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`)

function end(): void {
  endRecorded(data_folder ?? '', { say }).then(
    () => process.exit(0),
    (error: unknown) => {
      say(messageOf(error))
      process.exit(1)
    },
  )
}

// Where somebody ends it alone, `servo dev` starts another one.
process.stdin.once('close', end)
process.stdin.once('error', () => process.stdin.destroy())
process.stdin.resume()
