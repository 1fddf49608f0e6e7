// Whether an address is this machine's own, and whether a request that a browser may have sent was meant for this server.
// docs/security.md explains the rules.

export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** Why the API must not listen there; undefined: it may. */
export function listeningFault({ host, has_token }: { readonly host: string; readonly has_token: boolean }): string | undefined {
  if (has_token || isLoopback(host)) return undefined
  return `SERVO_HOST is ${JSON.stringify(host)}, which others can reach, and SERVO_API_TOKEN is not set: everybody there could deploy and run code. Set a token of 16 characters or more, or listen on 127.0.0.1.`
}

/** And not a file. */
export const isAddress = (place: string): boolean => /^https?:\/\//.test(place)

/** Whether a Host header names this machine or one of `names`. A name that someone else's DNS server answers for may lead here
 *  too: then a browser takes the pages of that name and this server for one, and only this header tells (DNS rebinding). */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  const name = urlOf('http:', host)?.hostname.replace(/^\[(.*)\]$/, '$1')
  return name !== undefined && (isLoopback(name) || names.includes(name))
}

/** Whether a request comes from a page that is neither of the server that it is for nor of one of `names`. Without an Origin
 *  header no page sent it. */
export function isForeignOrigin(origin: string | undefined, host: string | undefined, names: readonly string[]): boolean {
  if (origin === undefined) return false
  const page = isAddress(origin) && URL.canParse(origin) ? new URL(origin) : undefined
  if (page === undefined) return true
  return page.host !== urlOf(page.protocol, host)?.host && !names.includes(page.hostname)
}

/** undefined: the header is absent, or more than a name and a port. */
function urlOf(protocol: string, host: string | undefined): URL | undefined {
  const url = `${protocol}//${host}`
  return host !== undefined && /^[^\s/?#@\\]+$/.test(host) && URL.canParse(url) ? new URL(url) : undefined
}
