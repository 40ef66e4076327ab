import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireWhy } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { waitFor } from '../support/wait-for.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from './open-api.ts'

async function submit({ call }: OpenApi, run: string, more: object = {}): Promise<string> {
  return (await call<{ id: string }>('POST', '/v1/runs', { body: { run, ...more } })).body.id
}

const runOf = async ({ call }: OpenApi, id: string, query = '') =>
  (await call<WireRun>('GET', `/v1/runs/${id}${query}`)).body

test('a run shows its progress while it runs, and keeps the last value', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const received = await listen(t, api)
  const id = await submit(api, 'echo "::progress:: 1/4 one of four"; sleep 600')
  const { progress } = await waitFor(
    async () => {
      const run = await runOf(api, id)
      return run.progress && run
    },
    { what: 'the run to say how far it is' },
  )
  assert.deepEqual([progress?.fraction, progress?.message], [0.25, 'one of four'])
  const why = (await api.call<WireWhy>('GET', `/v1/runs/${id}/why`)).body
  assert.deepEqual(why.progress, progress)
  const data = await waitFor(() => /event: run\.progress\ndata: (.*)\n/.exec(received())?.[1], {
    what: 'the watcher to receive the event',
  })
  assert.deepEqual(JSON.parse(data), { id, progress })
  await api.call('POST', `/v1/runs/${id}/cancel`)
  const ended = await runOf(api, id, '?wait=60s')
  assert.equal(ended.state, 'cancelled')
  assert.deepEqual([ended.progress?.fraction, ended.progress?.message], [0.25, 'one of four'])
})

test('the first error marker of a process is the failure message, if it failed', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const script = 'echo ::error::no such table; echo ::error::and more >&2'
  const failed = await runOf(api, await submit(api, `${script}; exit 3`), '?wait=60s')
  assert.equal(failed.message, 'exited with code 3: no such table')
  const fine = await runOf(api, await submit(api, `${script}; exit 0`), '?wait=60s')
  assert.deepEqual([fine.state, fine.message], ['succeeded', null])
  const killed = await runOf(api, await submit(api, `${script}; kill -9 $$`), '?wait=60s')
  assert.match(killed.message ?? '', /SIGKILL: no such table$/)
})

test('millions of markers and endless lines are only output', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const id = await submit(
    api,
    `yes '::progress:: 50% again' | head -n 100000; head -c 3000000 /dev/zero | tr '\\0' ':'; echo
     printf '::error::'; head -c 3000000 /dev/zero | tr '\\0' 'x'; echo; printf '::error::bad\\0\\377'; exit 1`,
    { limits: { output: '100KiB' } },
  )
  const run = await runOf(api, id, '?wait=25s')
  assert.deepEqual([run.state, run.progress?.fraction], ['failed', 0.5])
  assert.equal(run.message, `exited with code 1: ${'x'.repeat(1_000)}`)
  const { bytes = 0, dropped } = run.process?.output ?? {}
  assert.equal(bytes - (dropped ?? 0), 100 * 1024)
})

/** Event stream data that a watching client receives. */
async function listen(t: { after(end: () => void): void }, { url }: OpenApi) {
  const disconnect = new AbortController()
  t.after(() => disconnect.abort())
  const answer = await fetch(`${url}/v1/events`, {
    signal: disconnect.signal,
    headers: { authorization: `Bearer ${ROOT_TOKEN}` },
  })
  let text = ''
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(bytes, { stream: true })
    }
  }
  read().catch(() => {})
  await waitFor(() => text.includes('hello'), { what: 'the stream to begin' })
  return () => text
}
