import type { Clock } from '../../../core/clock.ts'
import { measureTree } from './measure-tree.ts'

/** Periodically measures the temporary directories that have a limit. */
export interface FullnessWatch {
  /**
   * Calls `onOver` once when the directory exceeds its limit. Returns a function that ends the
   * watch.
   */
  add(path: string, mostBytes: number, onOver: (bytes: number) => void): () => void
  close(): void
}

const PAUSE_MS = 1_000
/** The pause after a measurement is this many times as long as the measurement. */
const PAUSE_FACTOR = 10

export function createFullnessWatch(clock: Pick<Clock, 'sleep' | 'mono'>): FullnessWatch {
  const watched = new Set<{ path: string; mostBytes: number; onOver(bytes: number): void }>()
  const closed = new AbortController()
  let isMeasuring = false

  const measureAll = async () => {
    while (watched.size > 0 && !closed.signal.aborted) {
      const startedMono = clock.mono()
      // One after the other, so that one attempt's files do not occupy all threads.
      for (const one of [...watched]) {
        const bytes = await measureTree(one.path, one.mostBytes)
        if (bytes > one.mostBytes && watched.delete(one)) one.onOver(bytes)
      }
      const tookMs = clock.mono() - startedMono
      await clock.sleep(Math.max(PAUSE_MS, PAUSE_FACTOR * tookMs), closed.signal)
    }
    isMeasuring = false
  }

  return {
    add(path, mostBytes, onOver) {
      const one = { path, mostBytes, onOver }
      watched.add(one)
      if (!isMeasuring) {
        isMeasuring = true
        void measureAll()
      }
      return () => void watched.delete(one)
    },
    close: () => closed.abort(),
  }
}
