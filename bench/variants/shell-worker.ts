import { onWords, readSettings } from '../harness/variant-process.ts'
import { childrenCpuMs } from '../harness/process-cpu.ts'
import { waitFor } from '../../test/support/wait-for.ts'

export interface ShellWorkerSettings {
  readonly url: string
  readonly token: string
  readonly slots: number
  readonly launchers: number
  /** Memory this process holds all the while. */
  readonly heldMb: number
}

type Program = { main(argv: readonly string[]): Promise<void> }

const MB = 2 ** 20
const PROGRAM = new URL('../../dist/main/punctual.js', import.meta.url)

/** `punctual worker`, the program as it is published, in a process that may be a large one. */
const { heldMb, url, token, slots, launchers } = readSettings() as ShellWorkerSettings
const held = Array.from({ length: heldMb }, () => Buffer.alloc(MB, 1))
onWords(
  () => {},
  () => process.kill(process.pid, 'SIGTERM'),
)
const { main } = (await import(PROGRAM.href)) as Program
await main([
  ...['worker', '--server', url, '--token', token],
  ...['--slots', String(slots), '--launchers', String(launchers)],
])
// What launchers have used is seen by whoever sees them end, and would count as somebody else's.
await waitFor(() => !childrenCpuMs(process.pid), { what: 'the launchers to leave' })
process.exit(held.length === heldMb ? process.exitCode : 1)
