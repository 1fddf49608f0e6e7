// Guards of who may do what: pages in browsers, workers of other locations, and secrets that are rotated.

import type { Check, Mutant } from './mutant.js'

const FOREIGN = 'src/api/http/foreign.ts'
const ADMISSION = 'src/sdk/worker/admission.ts'
const admission = (title: string): Check => ({ file: 'src/sdk/worker/admission.test.ts', title })

export const SECURITY: readonly Mutant[] = [
  {
    name: 'an API without a token that answers for any name',
    edits: [{ file: FOREIGN, find: '|| isOwnHost(headers.host, allowed_hosts)', replace: '|| headers.host !== undefined' }],
    killed_by: { file: 'test/api/foreign.test.ts', title: 'a page whose name leads to this machine starts no run' },
  },
  {
    name: 'a change from a foreign page that is taken with the token',
    edits: [
      { file: FOREIGN, find: 'if (READING.has(method) ||', replace: 'if (READING.has(method) || headers.authorization !== undefined ||' },
    ],
    killed_by: { file: 'test/api/foreign.test.ts', title: 'that a page of null sends is refused with the token' },
  },
  {
    name: 'a token of a list that is not accepted before it is used',
    edits: [
      {
        file: 'src/api/http/principal.ts',
        find: 'return api_tokens.filter((api_token)',
        replace: 'return api_tokens.slice(0, 1).filter((api_token)',
      },
    ],
    killed_by: { file: 'test/api/problems.test.ts', title: 'takes each of several tokens, and no other' },
  },
  {
    name: 'a worker that reports wherever a dispatch says',
    edits: [
      {
        file: ADMISSION,
        find: '.find((url) => !api_urls.some((api_url) => isBelow(url, api_url)))',
        replace: '.find((url) => url === api_urls[0])',
      },
    ],
    killed_by: admission('a worker reports nothing to https://evil.example/base/attempts/1'),
  },
  {
    name: 'a worker with the secret of its location that takes the header of the release before',
    edits: [
      {
        file: ADMISSION,
        find: 'secrets.some(isLocationSecret) ?',
        replace: 'secrets.some(isLocationSecret) && headers[LOCATION_SIGNATURE_HEADER] !== undefined ?',
      },
    ],
    killed_by: admission(
      'a worker with the secret of its location takes no other kind of signature, and one without takes that of the release before',
    ),
  },
  {
    name: 'a worker without a secret that takes what a page sends',
    edits: [{ file: ADMISSION, find: 'if (isForeignOrigin(origin, host, allowed_hosts))', replace: "if (origin === 'null')" }],
    killed_by: admission('a worker without a secret is called by a name of its machine, and by no page'),
  },
  {
    name: 'one secret for the locations of all workspaces',
    edits: [
      {
        file: 'src/core/location-secret.ts',
        find: '[VERSION, secret_key_id, tenant_id, workspace_id, location_name]',
        replace: '[VERSION, secret_key_id, tenant_id, location_name]',
      },
    ],
    killed_by: {
      file: 'src/core/location-secret.test.ts',
      title: 'each key of the installation gives each location of each workspace a secret of its own, under the same key id',
    },
  },
  {
    name: 'a rerun whose run key is claimed by nobody',
    edits: [{ file: 'src/commands/rerun/rerun.ts', find: 'is_key_claimed: true', replace: 'is_key_claimed: false' }],
    killed_by: {
      file: 'test/api/rotated-ids.test.ts',
      title: 'a rerun that both are asked for one after the other is one run, under one id',
    },
  },
]
