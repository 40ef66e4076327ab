import type { Random } from '../clock.ts'
import { randomInt } from '../clock.ts'

/**
 * A fence proves that an attempt still owns its run. The high bits are the claim number, so the fences of a run only
 * grow. The low bits are a random salt, so a fence cannot be guessed and a claim whose commit was lost is never
 * mistaken for the next one.
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
