import { setFlagsFromString } from 'node:v8'

const GROWTH = '--heap-growing-percent='
/** Twice what was alive when it was last looked through. */
const DOUBLE = 100
const AS_IT_LIKES = 0

let holders = 0

/** Whether the heap may only double at the moment. */
export function isHeapTight(): boolean {
  return holders > 0
}

/**
 * From now until the function it gives is called, the heap is looked through once it has doubled. Left
 * to itself it grows to four times what was alive, and what is thrown away while a hundred thousand steps
 * are read lies about until then. Only meanwhile: under load, looking that often costs a tenth of all
 * runs (decision 25).
 */
export function tightenHeap(): () => void {
  holders += 1
  if (holders === 1) setFlagsFromString(`${GROWTH}${DOUBLE}`)
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    holders -= 1
    if (holders === 0) setFlagsFromString(`${GROWTH}${AS_IT_LIKES}`)
  }
}
