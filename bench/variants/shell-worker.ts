import { onCommands, readVariantSettings } from '../harness/variant-process.ts'
import { childrenCpuMs } from '../harness/process-cpu.ts'
import { waitFor } from '../../test/support/wait-for.ts'

export interface ShellWorkerSettings {
  readonly url: string
  readonly token: string
  readonly slots: number
  readonly launchers: number
  /** Memory that this process holds during the measurement. */
  readonly heldMb: number
}

type Program = { main(argv: readonly string[]): Promise<void> }

const MB = 2 ** 20
const PROGRAM = new URL('../../dist/main/punctual.js', import.meta.url)

/** Runs the published `punctual worker` in a process that may hold much memory. */
const { heldMb, url, token, slots, launchers } = readVariantSettings() as ShellWorkerSettings
const held = Array.from({ length: heldMb }, () => Buffer.alloc(MB, 1))
onCommands(
  () => {},
  () => process.kill(process.pid, 'SIGTERM'),
)
const { main } = (await import(PROGRAM.href)) as Program
await main([
  'worker',
  '--server',
  url,
  '--token',
  token,
  '--slots',
  String(slots),
  '--launchers',
  String(launchers),
])
// Waits for the launchers, because their processor time is counted for this process only once it has reaped them.
await waitFor(() => !childrenCpuMs(process.pid), { what: 'the launchers to exit' })
process.exit(held.length === heldMb ? process.exitCode : 1)
