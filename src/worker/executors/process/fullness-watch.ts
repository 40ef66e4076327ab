import type { Clock } from '../../../core/clock.ts'
import { measureTree } from './measure-tree.ts'

/** Looks now and then how full the temporary directories are that have a limit. */
export interface FullnessWatch {
  /** Tells once if it holds more than it may. Returns what ends the watch. */
  add(path: string, mostBytes: number, onOver: (bytes: number) => void): () => void
  close(): void
}

const PAUSE_MS = 1_000
/** A look may take a while; the pause after it takes so many times as long. */
const REST = 10

export function createFullnessWatch(clock: Pick<Clock, 'sleep' | 'mono'>): FullnessWatch {
  const watched = new Set<{ path: string; mostBytes: number; onOver(bytes: number): void }>()
  const closed = new AbortController()
  let isLooking = false

  const look = async () => {
    while (watched.size > 0 && !closed.signal.aborted) {
      const startedMono = clock.mono()
      // One after the other: nobody's files should keep everybody's threads busy.
      for (const one of [...watched]) {
        const bytes = await measureTree(one.path, one.mostBytes)
        if (bytes > one.mostBytes && watched.delete(one)) one.onOver(bytes)
      }
      const tookMs = clock.mono() - startedMono
      await clock.sleep(Math.max(PAUSE_MS, REST * tookMs), closed.signal)
    }
    isLooking = false
  }

  return {
    add(path, mostBytes, onOver) {
      const one = { path, mostBytes, onOver }
      watched.add(one)
      if (!isLooking) {
        isLooking = true
        void look()
      }
      return () => void watched.delete(one)
    },
    close: () => closed.abort(),
  }
}
