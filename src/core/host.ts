// Whether an address is this machine's own: what listens there alone needs no token.

export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** Why the API must not listen there; undefined: it may. */
export function listeningFault({ host, api_token }: { readonly host: string; readonly api_token: string | undefined }): string | undefined {
  if (api_token !== undefined || isLoopback(host)) return undefined
  return `SERVO_HOST is ${JSON.stringify(host)}, which others can reach, and SERVO_API_TOKEN is not set: everybody there could deploy and run code. Set a token of 16 characters or more, or listen on 127.0.0.1.`
}

/** And not a file. */
export const isAddress = (place: string): boolean => /^https?:\/\//.test(place)
