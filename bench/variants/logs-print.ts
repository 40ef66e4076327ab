import { connect } from '../../src/client/index.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { startChild } from '../harness/child.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'

export interface PrintSettings {
  readonly store: string
  readonly lines: number
}

const LINE =
  'a line of about one hundred characters, as a build or a server prints them: 0123456789 abcdefghij'

/** Measures how fast the output of a command is stored, from its pipe to the disk. */
measureAndExit(async () => {
  const { store, lines } = readVariantSettings() as PrintSettings
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.nextMessage('ready')) as unknown as {
    url: string
    token: string
  }
  const worker = startChild('shell-worker.ts', { url, token, slots: 1, launchers: 1, heldMb: 0 })
  const client = connect({ url, token })
  const run = async (command: string) => {
    const limits = { output_bytes: 4 * 1024 ** 3 }
    const work = { executor: 'shell', run: command, limits } as const
    const [answer] = await client.submit([{ job: 'print', work }])
    return waitFor(
      async () => {
        const found = await client.getRun(answer!.id)
        return found.finishedAt === null ? undefined : found
      },
      { what: 'the run to end', deadlineMs: 600_000, intervalMs: 20 },
    )
  }
  await run('true')
  const { process: end, startedAt, finishedAt } = await run(`yes '${LINE}' | head -n ${lines}`)
  const seconds = ((finishedAt ?? 0) - (startedAt ?? 0)) / 1_000
  verify('bytes', lines * (LINE.length + 1), end?.output?.bytes ?? 0)
  verify('bytes left out', 0, end?.output?.dropped ?? 0)
  await client.close()
  await worker.stop()
  await server.stop()
  return {
    linesPerSecond: lines / seconds,
    mbPerSecond: (lines * (LINE.length + 1)) / 1e6 / seconds,
  }
})
