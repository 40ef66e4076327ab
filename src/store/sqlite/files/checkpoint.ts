import type { Database } from 'better-sqlite3'

/** 32 MB of WAL at 4 KB a page. */
const DUE_FRAMES = 8_192
/** A reader can hold a checkpoint back; then the next try waits for this much more. */
const RETRY_FRAMES = 4_096

export interface Checkpoints {
  /** Moves the WAL into the database when it has grown enough. Call after the answer is out. */
  whenDue(): void
  /** Also gives the WAL's space back, which stalls the disk: only for quiet moments. */
  whenIdle(): void
}

interface WalState {
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}

export function createCheckpoints(db: Database): Checkpoints {
  const look = db.prepare<[], WalState>('PRAGMA wal_checkpoint(NOOP)')
  const passive = db.prepare<[], WalState>('PRAGMA wal_checkpoint(PASSIVE)')
  const truncate = db.prepare<[], WalState>('PRAGMA wal_checkpoint(TRUNCATE)')
  let dueAtFrames = DUE_FRAMES

  return {
    whenDue() {
      const { log } = frames(look.get())
      if (log < dueAtFrames) {
        // The WAL began anew, so the last checkpoint was complete.
        if (log < DUE_FRAMES) dueAtFrames = DUE_FRAMES
        return
      }
      passive.get()
      dueAtFrames = log + RETRY_FRAMES
    },
    whenIdle() {
      if (frames(look.get()).log > 0) truncate.get()
      dueAtFrames = DUE_FRAMES
    },
  }
}

function frames(state: WalState | undefined): WalState {
  return state ?? { busy: 0, log: 0, checkpointed: 0 }
}
