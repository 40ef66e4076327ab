import type { Database } from 'better-sqlite3'

/** 32 MB of WAL at 4 KB a page. */
const DUE_FRAMES = 8_192
/** A reader can hold a checkpoint back; then the next attempt waits for this much more log. */
const RETRY_FRAMES = 4_096

export interface Checkpoints {
  /**
   * Copies the WAL into the database when it has grown enough. Call it after the answer was sent.
   */
  whenDue(): void
  /** Also truncates the WAL file, which stalls the disk: only for idle moments. */
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
  const patience = db.prepare<[], number>('PRAGMA busy_timeout').pluck()
  let dueAtFrames = DUE_FRAMES

  /** Never waits for a reader: a backup reads for minutes, and ticks would wait with the writer. */
  const tryTruncate = () => {
    const { busy, log, checkpointed } = frames(passive.get())
    if (busy !== 0 || log !== checkpointed) return
    const previousMs = patience.get() ?? 0
    db.pragma('busy_timeout = 0')
    try {
      truncate.get()
    } finally {
      db.pragma(`busy_timeout = ${previousMs}`)
    }
  }

  return {
    whenDue() {
      const { log } = frames(look.get())
      if (log < dueAtFrames) {
        // The WAL restarted, so the last checkpoint was complete.
        if (log < DUE_FRAMES) dueAtFrames = DUE_FRAMES
        return
      }
      passive.get()
      dueAtFrames = log + RETRY_FRAMES
    },
    whenIdle() {
      if (frames(look.get()).log > 0) tryTruncate()
      dueAtFrames = DUE_FRAMES
    },
  }
}

function frames(state: WalState | undefined): WalState {
  return state ?? { busy: 0, log: 0, checkpointed: 0 }
}
