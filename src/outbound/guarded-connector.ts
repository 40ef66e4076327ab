import { lookup as lookUpName } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { refuseAddress } from './address-rules.ts'
import type { AllowList } from './allow-list.ts'
import { parseIp } from './ip-address.ts'
import { OutboundError } from './outbound-error.ts'

/** All addresses of a name, in the order they should be tried. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface Guard {
  readonly allow: AllowList
  readonly resolve: Resolve
  /** Certificates to trust instead of the platform's. */
  readonly ca?: string | undefined
}

/** Resolves like other programs of this machine: hosts file, search domains, DNS. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookUpName(hostname, { all: true, order: 'verbatim' })).map(({ address }) => address)

/**
 * Ports of services that accept commands without authentication and might execute parts of an HTTP
 * request: those that browsers refuse, and those of databases, queues and control planes.
 */
const REFUSED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445,
  465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 873, 989,
  990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 3659,
  4045, 4190, 5060, 5061, 5432, 5672, 5900, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
  6697, 9042, 9092, 10_080, 10_250, 11_211, 27_017,
])

/**
 * A connector for undici. It resolves a name once, checks each address, and connects to one that
 * passed: there is no second lookup that could return another address.
 */
export function guardedConnector(
  { allow, resolve, ca }: Guard,
  signal: AbortSignal,
): buildConnector.connector {
  const dial = (addresses: readonly string[]) =>
    buildConnector({
      lookup: fixedLookup(addresses),
      autoSelectFamily: true,
      allowH2: false,
      maxCachedSessions: 0,
      ...(ca === undefined ? {} : { ca }),
    })
  const connect = async (
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Promise<void> => {
    const hostname = options.hostname.replace(/^\[(.*)\]$/, '$1')
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80)
    try {
      // A resolver cannot be interrupted, but the caller need not wait for it.
      const found = permittedAddresses(hostname, port, { allow, resolve })
      dial(await orAborted(found, signal))({ ...options, hostname }, callback)
    } catch (error) {
      callback(error as Error, null)
    }
  }
  return (options, callback) => void connect(options, callback)
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject)
  })
}

async function permittedAddresses(
  hostname: string,
  port: number,
  { allow, resolve }: Guard,
): Promise<string[]> {
  const found = parseIp(hostname) ? [hostname] : await addressesOf(hostname, resolve)
  const reasons = new Set<string>()
  const permitted = found.filter((text) => {
    const refusal = refuse(text, { hostname, port, allow })
    if (refusal !== undefined) reasons.add(refusal)
    return refusal === undefined
  })
  if (permitted.length > 0) return permitted
  // Without the address: callers must not be able to map names inside the network.
  throw new OutboundError('address_refused', `${hostname} ${[...reasons].join(' and ')}`)
}

function refuse(
  text: string,
  { hostname, port, allow }: { hostname: string; port: number; allow: AllowList },
): string | undefined {
  const address = parseIp(text)
  if (!address) return 'leads to an address that cannot be judged'
  const to = { hostname, port, address }
  if (REFUSED_PORTS.has(port) && !allow.permitsPort(to)) {
    return `is not called on port ${port} unless the operator allows it`
  }
  const kind = refuseAddress(address)
  if (kind === undefined || allow.permits(to)) return undefined
  return `leads to ${kind}, which is not called unless the operator allows it`
}

async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    const addresses = await resolve(hostname)
    if (addresses.length > 0) return addresses
  } catch (error) {
    throw new OutboundError('name_unknown', `${hostname} cannot be looked up`, { cause: error })
  }
  throw new OutboundError('name_unknown', `${hostname} has no address`)
}

/**
 * A lookup that returns known addresses. It is called only for names: an address is dialled
 * directly.
 */
function fixedLookup(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_hostname, { all }, callback) => {
    const [first] = known
    if (all) callback(null, known)
    else callback(null, first?.address ?? '', first?.family)
  }
}
