// The fake of Google Cloud Storage that the tests run against: built from its Go module once a machine.

import { pathToFileURL } from 'node:url'
import { cachedTool, makeOnce, printProgram, runGo, sayOnStderr, secondsSince } from './tool-cache.js'

export const FAKE_GCS_VERSION = 'v1.56.1'
const MODULE = 'github.com/fsouza/fake-gcs-server'
/** What its go.mod asks for. */
const GO_NEEDED = '1.25.8'

/** The path of the program, built now if it is not there. */
export function ensureFakeGcsServer(say = console.log) {
  return makeOnce(cachedTool('fake-gcs-server', FAKE_GCS_VERSION), async (folder) => {
    const began = Date.now()
    say(`set-up: building fake-gcs-server ${FAKE_GCS_VERSION} from its Go module, once for this machine (about 3 minutes) …`)
    await runGo({
      args: ['install', `${MODULE}@${FAKE_GCS_VERSION}`],
      what: `fake-gcs-server ${FAKE_GCS_VERSION}`,
      go_needed: GO_NEEDED,
      env: { ...process.env, GOBIN: folder },
    })
    say(`set-up: fake-gcs-server built in ${secondsSince(began)}`)
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] || '').href) printProgram(ensureFakeGcsServer(sayOnStderr))
