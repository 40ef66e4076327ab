import { connect } from '../../src/client/index.ts'
import { startChild } from '../harness/child.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'

export interface WorkerKilledSettings {
  readonly store: string
}

const QUEUES = ['default']

/** Kills a worker with -9 in the middle of a run and measures the time until another worker starts the run again. */
measureAndExit(async () => {
  const { store } = readVariantSettings() as WorkerKilledSettings
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.nextMessage('ready')) as unknown as {
    url: string
    token: string
  }
  const client = connect({ url, token })
  const join = async (name: string) => {
    const worker = startChild('recovery-worker.ts', { name, urls: [url], token, queues: QUEUES })
    await worker.nextMessage('ready')
    return worker
  }

  const victim = await join('victim')
  const [held] = await client.submit([{ job: 'hold' }])
  await victim.nextMessage('started')
  const replacement = await join('replacement')

  const killedAt = performance.now()
  victim.kill('SIGKILL')
  const again = await replacement.nextMessage('started')
  const redispatchedMs = performance.now() - killedAt
  verify(
    'attempt number of the same run',
    2,
    again['run'] === held!.id ? Number(again['attempt']) : 0,
  )

  replacement.sendCommand('release')
  await replacement.stop()
  await server.stop()
  return { seconds: redispatchedMs / 1000 }
})
