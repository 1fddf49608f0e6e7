// Guards of the adapters of the object store.

import type { Mutant } from './mutant.js'

const GCS = 'src/storage/gcs.ts'

export const STORE: readonly Mutant[] = [
  {
    name: 'local put paused past its stamp, and not said to be late',
    edits: [{ file: 'src/storage/local.ts', find: 'late: now_ms - stamp.at_ms > WRITE_MS_MAX', replace: 'late: now_ms < stamp.at_ms' }],
    killed_by: {
      file: 'test/crash/local-steps.test.ts',
      title: 'before "sync-folder" for longer than a write may take says whether it is late',
    },
  },
  {
    name: 'client retry turning a landed write into a lost race',
    edits: [
      { file: GCS, find: 'retryOptions: { autoRetry: false, maxRetries: 0 }', replace: 'retryOptions: { autoRetry: true, maxRetries: 1 }' },
      {
        file: GCS,
        find: 'return new Promise((resolve, reject) => {\n    let headers',
        replace: `const preconditionOpts = { ifGenerationMatch: if_generation as unknown as number }
  if (timeout_ms > 0) return file.save(Buffer.from(bytes), { resumable: false, preconditionOpts, metadata }).then(() => ({}))
  return new Promise((resolve, reject) => {\n    let headers`,
      },
    ],
    killed_by: { file: 'test/contract/gcs-client.test.ts', title: 'a put whose answer is lost is tried once, and its outcome is unknown' },
  },
  {
    name: 'GCS write without its precondition',
    edits: [{ file: GCS, find: 'preconditionOpts: { ifGenerationMatch: if_generation as unknown as number },', replace: '' }],
    killed_by: { file: 'test/contract/gcs-client.test.ts', title: 'a put is one multipart request with its precondition and its checksum' },
  },
  {
    name: 'temporary folders of processes that were killed left where they are',
    edits: [{ file: 'src/storage/temporary-folder.ts', find: "return lock === 'free'", replace: 'return false' }],
    killed_by: {
      file: 'test/contract/temporary-folder.test.ts',
      title: 'that was killed is removed by the next one that makes a folder; that of a living or a stopped one stays',
    },
  },
  {
    name: 'temporary folders of living processes removed',
    edits: [{ file: 'src/storage/temporary-folder.ts', find: "return lock === 'free'", replace: 'return true' }],
    killed_by: {
      file: 'test/contract/temporary-folder.test.ts',
      title: 'that was killed is removed by the next one that makes a folder; that of a living or a stopped one stays',
    },
  },
]
