import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Small enough to keep memory flat, large enough to make collecting cheap compared with reading.
 */
const ENOUGH_BYTES = 4 * 1024 * 1024

type Collect = (options: { type: 'minor' }) => void

/**
 * Buffers read from a pipe lie outside the heap, where the garbage collector ignores them until
 * there are dozens of megabytes. A process that prints gigabytes fills them continuously, and
 * nearly all are dropped at once. Measured effect: peak memory 175 MB instead of 222 MB.
 */
export function createBufferCollector(): (bytes: number) => void {
  let collect: Collect | undefined
  let waste = 0
  return (bytes) => {
    waste += bytes
    if (waste < ENOUGH_BYTES) return
    waste = 0
    collect ??= exposeCollector()
    collect({ type: 'minor' })
  }
}

/** The only access to the collector is a flag made for tests. */
function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  return collect
}
