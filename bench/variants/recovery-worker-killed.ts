import { connect } from '../../src/client/index.ts'
import { startChild } from '../harness/child.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'

export interface WorkerGoneSettings {
  readonly store: string
}

const QUEUES = ['default']

/** kill -9 of a worker in the middle of a run: how long until another worker has started it again? */
measure(async () => {
  const { store } = readSettings() as WorkerGoneSettings
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.next('ready')) as unknown as { url: string; token: string }
  const client = connect({ url, token })
  const join = async (name: string) => {
    const worker = startChild('recovery-worker.ts', { name, urls: [url], token, queues: QUEUES })
    await worker.next('ready')
    return worker
  }

  const victim = await join('victim')
  const [held] = await client.submit([{ job: 'hold' }])
  await victim.next('started')
  const heir = await join('heir')

  const killedAt = performance.now()
  victim.kill('SIGKILL')
  const again = await heir.next('started')
  const redispatchedMs = performance.now() - killedAt
  verify('the same run, its attempt', 2, again['run'] === held!.id ? Number(again['attempt']) : 0)

  heir.tell('release')
  await heir.stop()
  await server.stop()
  return { seconds: redispatchedMs / 1000 }
})
