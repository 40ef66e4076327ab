import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { findMarked } from '../../src/worker/launcher/process-tree.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

const skip = process.platform !== 'linux' && 'processes are found in /proc'

/** A real worker process with one running run. */
async function setUp(t: TestContext, run: string) {
  const home = openHome(t)
  const api = await openApi(t)
  const client = connect({ url: api.url, token: ROOT_TOKEN })
  t.after(() => client.close())
  const worker = home.start(['worker', '--server', api.url, '--token', ROOT_TOKEN, '--name', 'w'])
  const { body } = await api.call<{ id: string }>('POST', '/v1/runs', { body: { run } })
  const { id } = body
  const log = () => api.call<{ lines?: object[] }>('GET', `/v1/runs/${id}/logs`)
  await waitFor(async () => ((await log()).body.lines?.length ?? 0) > 0, {
    what: 'the run to say that it is up',
    deadlineMs: 60_000,
  })
  const alive = () => findMarked((mark) => mark.run === id).length
  return { home, worker, client, id, alive }
}

test('on the first signal a worker finishes its runs and exits', { skip }, async (t) => {
  const { worker, client, id, home } = await setUp(
    t,
    'echo up; while [ ! -e "$HOME/go" ]; do sleep 0.05; done',
  )
  worker.child.kill('SIGTERM')
  await waitFor(() => worker.output.err.includes('stopping'), { what: 'it to get the signal' })
  writeFileSync(join(home.dir, 'go'), '')
  assert.equal(await worker.ended, 0)
  assert.match(worker.output.err, /SIGTERM, stopping/)
  const { state, attempt } = await client.getRun(id)
  assert.deepEqual({ state, attempt }, { state: 'succeeded', attempt: 1 })
})

test(
  'on the second signal it kills them, says so, and gives them back uncounted',
  { skip },
  async (t) => {
    const stubborn = 'trap "" TERM; setsid sh -c "trap : TERM; sleep 1000" & echo up; sleep 1000'
    const { worker, client, id, alive } = await setUp(t, stubborn)
    worker.child.kill('SIGTERM')
    await waitFor(() => worker.output.err.includes('stopping'), {
      what: 'it to get the first signal',
    })
    // As a user would: repeatedly until it exits.
    await waitFor(
      () => worker.output.err.includes('SIGTERM again') || !worker.child.kill('SIGTERM'),
      {
        what: 'it to get the second signal',
        intervalMs: 100,
      },
    )
    assert.equal(await worker.ended, 1)
    assert.match(worker.output.err, /running attempts are killed/)
    assert.equal(alive(), 0)
    const { state, attempt, lost } = await client.getRun(id)
    assert.deepEqual({ state, attempt, lost }, { state: 'ready', attempt: 1, lost: 0 })
  },
)
