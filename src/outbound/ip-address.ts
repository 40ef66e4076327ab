import { isIPv4, isIPv6 } from 'node:net'

/** Four or sixteen bytes, in network order. */
export type IpAddress = readonly number[]

export interface IpRange {
  readonly address: IpAddress
  readonly bits: number
}

/**
 * Parses the notation of resolvers and sockets; undefined for anything else, such as an address
 * with a zone, which would depend on the machine's interfaces. An IPv4 address written as IPv6
 * becomes IPv4.
 */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return text.split('.').map(Number)
  if (!isIPv6(text) || text.includes('%')) return undefined
  const [head = '', tail] = text.split('::')
  const front = bytesOf(head)
  const back = bytesOf(tail ?? '')
  const gap = Array<number>(16 - front.length - back.length).fill(0)
  const address = [...front, ...gap, ...back]
  return isWithin(address, MAPPED) ? address.slice(12) : address
}

export function isWithin(address: IpAddress, range: IpRange): boolean {
  if (address.length !== range.address.length) return false
  for (let bit = 0; bit < range.bits; bit += 8) {
    const mask = 0xff00 >> Math.min(8, range.bits - bit)
    const index = bit / 8
    if ((((address[index] ?? 0) ^ (range.address[index] ?? 0)) & mask & 0xff) !== 0) return false
  }
  return true
}

const MAPPED: IpRange = {
  address: [...Array<number>(10).fill(0), 0xff, 0xff, 0, 0, 0, 0],
  bits: 96,
}

/**
 * Parses `2001:db8:1.2.3.4` without the gap: groups of two bytes, the last one possibly in IPv4
 * notation.
 */
function bytesOf(groups: string): number[] {
  if (groups === '') return []
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}
