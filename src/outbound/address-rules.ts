import { type IpAddress, type IpRange, isWithin, parseIp } from './ip-address.ts'

/** Ranges outside of the public internet, and their names in messages. */
const REFUSED_V4 = table([
  ['0.0.0.0/8', 'an unspecified address'],
  ['10.0.0.0/8', 'a private address'],
  ['100.64.0.0/10', "a carrier's private address"],
  ['127.0.0.0/8', 'a loopback address'],
  ['168.63.129.16/32', "a cloud's metadata address"],
  ['169.254.0.0/16', 'a link-local address'],
  ['172.16.0.0/12', 'a private address'],
  ['192.0.0.0/24', 'a reserved address'],
  ['192.0.2.0/24', 'a documentation address'],
  ['192.88.99.0/24', 'a relay address'],
  ['192.168.0.0/16', 'a private address'],
  ['198.18.0.0/15', 'a benchmark address'],
  ['198.51.100.0/24', 'a documentation address'],
  ['203.0.113.0/24', 'a documentation address'],
  ['224.0.0.0/4', 'a multicast address'],
  ['255.255.255.255/32', 'the broadcast address'],
  ['240.0.0.0/4', 'a reserved address'],
])

const REFUSED_V6 = table([
  ['::/128', 'an unspecified address'],
  ['::1/128', 'a loopback address'],
  ['fc00::/7', 'a private address'],
  ['fe80::/10', 'a link-local address'],
  ['fec0::/10', 'a site-local address'],
  ['ff00::/8', 'a multicast address'],
  ['2001:db8::/32', 'a documentation address'],
  ['3fff::/20', 'a documentation address'],
  // Includes Teredo, whose real destination is hidden in the address, and benchmark ranges.
  ['2001::/23', 'a reserved address'],
])

/**
 * The part of IPv6 assigned to the public so far. Later assignments are refused until they are
 * added.
 */
const PUBLIC_V6 = range('2000::/3')

/** Ranges whose addresses contain an IPv4 address, and its position. */
const EMBEDDED_IPV4: readonly (readonly [range: IpRange, at: number])[] = [
  [range('::/96'), 12],
  [range('64:ff9b::/96'), 12],
  [range('2002::/16'), 2],
]

/**
 * The kind of an address that must not be called, such as `a private address`; undefined if it may
 * be.
 */
export function refuseAddress(address: IpAddress): string | undefined {
  if (address.length === 4) return nameIn(REFUSED_V4, address)
  const listed = nameIn(REFUSED_V6, address)
  if (listed !== undefined) return listed
  const carried = embeddedIpv4(address)
  const hidden = carried && refuseAddress(carried)
  if (hidden !== undefined) return `${hidden} inside an IPv6 one`
  if (carried || isWithin(address, PUBLIC_V6)) return undefined
  return 'a reserved address'
}

function embeddedIpv4(address: IpAddress): IpAddress | undefined {
  for (const [carrier, at] of EMBEDDED_IPV4) {
    if (isWithin(address, carrier)) return address.slice(at, at + 4)
  }
  // ISATAP: the interface id contains the IPv4 address of the last hop.
  const isTunnel = address[9] === 0 && address[10] === 0x5e && address[11] === 0xfe
  return isTunnel && (address[8] === 0 || address[8] === 2) ? address.slice(12) : undefined
}

function nameIn(rows: readonly (readonly [IpRange, string])[], address: IpAddress) {
  return rows.find(([candidate]) => isWithin(address, candidate))?.[1]
}

function table(rows: [text: string, name: string][]): readonly (readonly [IpRange, string])[] {
  return rows.map(([text, name]) => [range(text), name])
}

function range(text: string): IpRange {
  const [address = '', bits] = text.split('/')
  return { address: parseIp(address) ?? [], bits: Number(bits) }
}
