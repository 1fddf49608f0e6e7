// What went wrong, as RFC 9457 has it: for programs the type, for people a sentence that says what to do.

import { z } from 'zod'

export const problemDocument = z
  .looseObject({
    type: z.string().meta({ description: 'urn:servo:problem: and a code, such as not-found.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What happened, and what to do.' }),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Each thing that is wrong with the request, with the member that it is about.' }),
    request_id: z.string().meta({ description: 'Under this the log of the API tells more.' }),
  })
  .meta({ id: 'Problem' })
