import { join } from 'node:path'
import { launch, type ManagedProcess } from './managed-process.ts'

/** One place on the stage, taken by one process after the other. */
export interface Role {
  readonly name: string
  current(): ManagedProcess
  /** Starts the next process and does not wait for it. */
  begin(): ManagedProcess
  start(): Promise<void>
}

export interface Cast {
  /** A new place, for processes with this command; nobody takes it before it is started. */
  role(name: string, commandOf: (processName: string) => readonly string[]): Role
  /** Whatever still runs is killed. */
  dismiss(): Promise<void>
}

/** Everybody who ever had a place on one stage. What they complain about is kept in `dir`. */
export function createCast(dir: string, onDeath: (processName: string) => void): Cast {
  const started = new Set<ManagedProcess>()
  return {
    role(name, commandOf) {
      let process: ManagedProcess | undefined
      let starts = 0
      const begin = () => {
        starts += 1
        const processName = `${name}.${starts}`
        process = launch({
          name: processName,
          command: commandOf(processName),
          cacheDir: join(dir, 'compiled'),
          errorPath: join(dir, `${processName}.err`),
          onDeath: () => onDeath(processName),
        })
        started.add(process)
        return process
      }
      return {
        name,
        current() {
          if (!process) throw new Error(`${name} was never started`)
          return process
        },
        begin,
        start: () => begin().ready(),
      }
    },

    async dismiss() {
      await Promise.all([...started].map((process) => process.kill()))
    },
  }
}

/** A file of this folder, which takes its settings as its only argument. */
export function chaosProcess(entry: string, settings: object): string[] {
  return [join(import.meta.dirname, entry), JSON.stringify(settings)]
}
