import type { Server, Socket } from 'node:net'

/** Time limits of connections, and how many there may be. */
export interface ConnectionLimits {
  /** From the first byte, or the silence instead of it, to the end of the headers. */
  readonly headersMs: number
  /** To the end of the body. */
  readonly requestMs: number
  /** How often the two above are enforced; Node's default of half a minute would triple them. */
  readonly checkMs: number
  /** Without a byte in either direction. Longer than any silent wait. */
  readonly stalledMs: number
  /** Between two requests. */
  readonly keepAliveMs: number
  readonly most: number
  /**
   * Less than all, so that one address cannot take every connection; enough for a fleet behind one
   * address.
   */
  readonly mostPerAddress: number
  /** Additional connections for this machine, so that an operator on it always gets in. */
  readonly reserved: number
}

export const DEFAULT_CONNECTIONS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 2_000,
  stalledMs: 60_000,
  keepAliveMs: 75_000,
  most: 10_000,
  mostPerAddress: 6_000,
  reserved: 100,
}

type Counts = Pick<ConnectionLimits, 'most' | 'mostPerAddress' | 'reserved'>

/** Closes connections beyond the limits at once, before a byte of them is read. */
export function limitConnections(server: Server, { most, mostPerAddress, reserved }: Counts): void {
  // At an even higher number the socket library itself refuses connections.
  server.maxConnections = most + reserved
  const places = new Map<string, number>()
  let taken = 0

  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress
    if (address === undefined) return void socket.destroy()
    const neighbourhood = neighbourhoodOf(address)
    const here = places.get(neighbourhood) ?? 0
    const room = most + (isLoopback(neighbourhood) ? reserved : 0)
    if (here >= mostPerAddress || taken >= room) return void socket.destroy()
    places.set(neighbourhood, here + 1)
    taken += 1
    socket.once('close', () => {
      taken -= 1
      const left = (places.get(neighbourhood) ?? 1) - 1
      if (left > 0) places.set(neighbourhood, left)
      else places.delete(neighbourhood)
    })
  })
}

/**
 * The unit that is counted: an IPv4 address, or the first half of an IPv6 address, because one
 * customer has the whole second half.
 */
export function neighbourhoodOf(address: string): string {
  const inner = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (inner !== undefined || !address.includes(':')) return inner ?? address
  if (address === '::1') return address
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const missing = tail === undefined ? 0 : 8 - before.length - after.length
  const groups = [...before, ...Array<string>(Math.max(0, missing)).fill('0'), ...after]
  return `${groups.slice(0, 4).join(':')}::`
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':')
}

function isLoopback(neighbourhood: string): boolean {
  return neighbourhood === '::1' || neighbourhood.startsWith('127.')
}
