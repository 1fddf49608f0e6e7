// Who commands and, if they like, why: as events say it.

export type By = { readonly requested_by?: string | undefined; readonly reason?: string | undefined }

export const by = ({ requested_by, reason }: By) => ({
  ...(requested_by === undefined ? {} : { requested_by }),
  ...(reason === undefined ? {} : { reason }),
})
