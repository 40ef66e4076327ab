import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, type JobDefinition } from '../../src/client/index.ts'
import { openApi, ROOT_TOKEN } from './open-api.ts'

const RELEASE: JobDefinition = {
  concurrency: 'none',
  steps: {
    build: { task: 'build', each: [1, 2, 3], with: '${{ item }}' },
    sign_off: {
      needs: 'build',
      approve: { message: 'Ship it?', input: { note: { type: 'string' } } },
    },
    optional: { needs: 'sign_off', task: 'build' },
    ship: { needs: ['sign_off', 'optional'], task: 'build', with: '${{ steps.sign_off.output }}' },
  },
}

test('the client defines a workflow, watches its steps and decides about them', async (t) => {
  const api = await openApi(t)
  const client = connect({ url: api.url, token: ROOT_TOKEN })
  t.after(() => client.close())
  const { jobs, steps } = client
  await api.startWorker({ handlers: { build: (input) => input } })

  const job = await jobs.put('release', RELEASE)
  assert.deepEqual([job.version, job.definition], [1, RELEASE])
  assert.equal((await jobs.put('release', RELEASE)).version, 1)
  assert.deepEqual(
    (await jobs.list()).data.map(({ name }) => name),
    ['release'],
  )
  assert.equal((await jobs.versions('release')).data.length, 1)
  const planned = await steps.ofJob('release', { limit: 2 })
  assert.deepEqual(
    planned.data.map(({ name, kind }) => `${name} ${kind}`),
    ['build work', 'sign_off approval'],
  )

  const { id } = await jobs.run('release', {}, 'once')
  assert.deepEqual(await jobs.run('release', {}, 'once'), { id, created: false })
  const asked = async () => (await steps.list(id, { state: 'waiting' })).data[0]
  while ((await asked()) === undefined) await api.call('GET', `/v1/runs/${id}?wait=50ms`)
  assert.equal((await asked())?.approval?.message, 'Ship it?')
  assert.equal((await steps.why(id)).code, 'approval')
  assert.equal((await steps.items(id, 'build', { limit: 2 })).data.length, 2)
  assert.equal((await steps.skip(id, 'optional')).state, 'skipped')
  const answer = { input: { note: 'fine' }, message: 'as agreed' }
  assert.equal((await steps.approve(id, 'sign_off', answer)).state, 'succeeded')
  await api.call('GET', `/v1/runs/${id}?wait=25s`)
  const ends: string[] = []
  for await (const { name, state } of steps.each(id, { limit: 3 })) ends.push(`${name} ${state}`)
  assert.deepEqual(ends, [
    'build succeeded',
    'sign_off succeeded',
    'optional skipped',
    'ship succeeded',
  ])
  assert.deepEqual((await steps.get(id, 'ship')).output, { note: 'fine' })

  const again = await client.retry(id, undefined, { from: 'sign_off' })
  while ((await steps.get(again.id, 'sign_off')).state !== 'waiting') {
    await api.call('GET', `/v1/runs/${again.id}?wait=50ms`)
  }
  const refused = await steps.refuse(again.id, 'sign_off', { message: 'not today' })
  assert.deepEqual([refused.state, refused.reason], ['failed', 'refused'])
  await assert.rejects(steps.approve(id, 'sign_off'), { code: 'run_is_final' })

  assert.equal((await jobs.pause('release', { reason: 'holiday' })).paused?.reason, 'holiday')
  assert.equal((await jobs.resume('release')).paused, null)
  await api.call('GET', `/v1/runs/${again.id}?wait=25s`)
  await jobs.delete('release')
  await assert.rejects(jobs.get('release'), { code: 'job_not_found' })
})
