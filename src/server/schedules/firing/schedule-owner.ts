/**
 * Assigns each schedule to one of the live nodes: every node computes the same owner, and when a
 * node leaves, only its own schedules move. Only efficiency depends on it.
 */
export function scheduleOwner(scheduleId: number, nodes: readonly number[]): number | undefined {
  let owner: number | undefined
  let highest = -1
  for (const node of nodes) {
    const weight = mix(node, scheduleId)
    if (weight > highest) [owner, highest] = [node, weight]
  }
  return owner
}

/** Mixes both numbers into 32 bits. */
function mix(node: number, id: number): number {
  let hash = Math.imul(node ^ 0x9e3779b9, 0x85ebca6b)
  hash = Math.imul(hash ^ (id % 2 ** 32), 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 15) ^ Math.floor(id / 2 ** 32), 0x27d4eb2f)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0x165667b1)
  return (hash ^ (hash >>> 16)) >>> 0
}
