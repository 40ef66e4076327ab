import { setFlagsFromString } from 'node:v8'

const GROWTH = '--heap-growing-percent='
/** Percentage of growth before the next garbage collection: twice the live size. */
const DOUBLE = 100
const DEFAULT_GROWTH = 0

let holders = 0

/** Whether the heap may only double at the moment. */
export function isHeapTight(): boolean {
  return holders > 0
}

/**
 * Until the returned function is called, the garbage collector runs whenever the heap has doubled.
 * By default the heap grows to four times its live size, and the garbage from reading a hundred
 * thousand steps stays until then. Only for the duration of long work: under load, collecting that
 * often costs a tenth of the throughput (decision 25).
 */
export function tightenHeap(): () => void {
  holders += 1
  if (holders === 1) setFlagsFromString(`${GROWTH}${DOUBLE}`)
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    holders -= 1
    if (holders === 0) setFlagsFromString(`${GROWTH}${DEFAULT_GROWTH}`)
  }
}
