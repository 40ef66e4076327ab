import type { Random } from '../clock.ts'
import { randomInt } from '../clock.ts'

/**
 * A fence is the proof that an attempt may still speak for its run: the claim's number in the high
 * bits, so fences of a run only grow, and chance in the low ones, so none can be guessed and a claim
 * whose commit was lost can never be mistaken for the next one.
 */
export const SALT_RANGE = 2 ** 20
const MAX_CLAIMS = 2 ** 33

export function fenceOf(claimNo: number, salt: number): number {
  if (!(claimNo >= 1 && claimNo < MAX_CLAIMS))
    throw new RangeError(`claim ${claimNo} is out of range`)
  return claimNo * SALT_RANGE + salt
}

export function claimNoOf(fence: number): number {
  return Math.floor(fence / SALT_RANGE)
}

export function saltOf(fence: number): number {
  return fence % SALT_RANGE
}

export function drawSalt(random: Random): number {
  return randomInt(random, SALT_RANGE)
}
