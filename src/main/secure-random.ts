import { randomFillSync } from 'node:crypto'
import type { Random } from '../core/clock.ts'

/**
 * Unpredictable random numbers, because fences are proofs. Read from the system in large blocks for
 * speed.
 */
export function createSecureRandom(): Random {
  const pool = new Uint32Array(2_048)
  let next = pool.length
  const draw = () => {
    if (next >= pool.length) {
      randomFillSync(pool)
      next = 0
    }
    const value = pool[next] as number
    next += 1
    return value
  }
  return () => (draw() * 2 ** 21 + (draw() >>> 11)) / 2 ** 53
}
