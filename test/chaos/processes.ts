import { join } from 'node:path'
import { launch, type ManagedProcess } from './managed-process.ts'

/** A named role in the scenario, filled by one process after the other. */
export interface ProcessRole {
  readonly name: string
  current(): ManagedProcess
  /** Starts the next process and does not wait for it. */
  begin(): ManagedProcess
  start(): Promise<void>
}

export interface ProcessGroup {
  /** A new role for processes with this command; none is running until it is started. */
  role(name: string, commandOf: (processName: string) => readonly string[]): ProcessRole
  /** Kills every process that is still running. */
  killAll(): Promise<void>
}

/** Every process of one scenario. Their standard error is kept in `dir`. */
export function createProcessGroup(
  dir: string,
  onDeath: (processName: string) => void,
): ProcessGroup {
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

    async killAll() {
      await Promise.all([...started].map((process) => process.kill()))
    },
  }
}

/** Command line for a file of this folder, which takes its settings as its only argument. */
export function chaosProcess(entry: string, settings: object): string[] {
  return [join(import.meta.dirname, entry), JSON.stringify(settings)]
}
