// Whether an address is this machine's own: what listens there alone needs no token.

export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
