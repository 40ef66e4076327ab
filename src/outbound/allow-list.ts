import { PunctualError } from '../core/errors.ts'
import { type IpAddress, type IpRange, isWithin, parseIp } from './ip-address.ts'

/** Destinations that an operator permits beyond the public internet. */
export interface AllowList {
  /** Whether an entry covers this address, under this name and port. */
  permits(destination: Destination): boolean
  /** Whether an entry names this port: dangerous ports stay closed without one. */
  permitsPort(destination: Destination): boolean
}

export interface Destination {
  readonly hostname: string
  readonly port: number
  readonly address: IpAddress
}

interface Entry {
  readonly range?: IpRange
  readonly name?: string
  readonly port?: number
}

/**
 * Parses `10.0.0.0/8`, `127.0.0.1:8080`, `[::1]:8080`, `fd00::/8`, `intranet.example:8443`. A name
 * permits every address it resolves to, for requests that use the name: the operator trusts its
 * DNS.
 */
export function parseAllowList(entries: readonly string[], field = 'allow-address'): AllowList {
  const parsed = entries.map((entry) => parseEntry(entry, field))
  const covers = ({ range, name, port }: Entry, to: Destination) =>
    (port === undefined || port === to.port) &&
    (range ? isWithin(to.address, range) : name === normalizedName(to.hostname))
  return {
    permits: (to) => parsed.some((entry) => covers(entry, to)),
    permitsPort: (to) => parsed.some((entry) => entry.port !== undefined && covers(entry, to)),
  }
}

export const NOTHING_ALLOWED: AllowList = parseAllowList([])

const WITH_PORT = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/

function parseEntry(entry: string, field: string): Entry {
  const match = WITH_PORT.exec(entry)
  // Only an IPv6 address contains several colons; it needs no brackets without a port.
  const host = match ? (match[1] ?? match[2] ?? '') : entry
  const port = match?.[3] === undefined ? undefined : Number(match[3])
  const where = rangeOf(host) ?? (match?.[2] === undefined ? undefined : nameOf(host))
  if (where === undefined || (port !== undefined && !(port >= 1 && port <= 65_535))) {
    const examples = '10.0.0.0/8, 127.0.0.1:8080, [::1]:8080 or a host name'
    throw new PunctualError('config_invalid', `${field}: ${entry} is none of ${examples}`, {
      field,
    })
  }
  return { ...where, ...(port === undefined ? {} : { port }) }
}

function rangeOf(text: string): Pick<Entry, 'range'> | undefined {
  const [host = '', width, rest] = text.split('/')
  const address = parseIp(host)
  if (!address || rest !== undefined) return undefined
  const most = address.length * 8
  if (width === undefined) return { range: { address, bits: most } }
  const bits = /^\d{1,3}$/.test(width) ? Number(width) : Number.NaN
  return bits <= most ? { range: { address, bits } } : undefined
}

/** A name that a URL parser would read as an address is a mistake, possibly a malicious one. */
function nameOf(text: string): Pick<Entry, 'name'> | undefined {
  if (!/^[\p{L}\p{N}._-]+$/u.test(text) || !URL.canParse(`http://${text}/`)) return undefined
  const name = normalizedName(new URL(`http://${text}/`).hostname)
  return parseIp(name) ? undefined : { name }
}

function normalizedName(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '')
}
