// What `servo dev` prints when it is up. Pure.

export type DevSummary = {
  readonly api_url: string
  readonly temporal_address: string
  /** The loops in Temporal's UI; undefined: `servo dev` uses a named server. */
  readonly loops_url: string | undefined
  /** undefined: there is no module. */
  readonly worker: { readonly url: string; readonly is_serving: boolean } | undefined
  readonly data_folder: string
  readonly export_line: string | undefined
  /** Processes that ended by themselves while the others came up. */
  readonly failing: readonly string[]
}

export function summaryText({ api_url, temporal_address, loops_url, worker, data_folder, export_line, failing }: DevSummary): string {
  return [
    failing.length === 0
      ? 'Servo is up.'
      : `Servo is up without its ${failing.join(' and its ')}, which ended and is started again: its last words are above.`,
    `  API       ${api_url}   (${api_url}/openapi.json)`,
    `  Temporal  ${loops_url ?? `${temporal_address}, as TEMPORAL_ADDRESS says`}`,
    ...(worker === undefined ? [] : [`  worker    ${worker.url}${worker.is_serving ? '' : '   (it serves nothing yet: why is above)'}`]),
    `  data      ${data_folder}`,
    ...(export_line === undefined ? [] : [`  commands in other terminals reach it after: ${export_line}`]),
  ].join('\n')
}
