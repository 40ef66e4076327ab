// A value that PostgreSQL refuses affects only its own follower.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import type { WireFollowUp, WireJob } from '../../src/core/job/job-views.ts'
import { openApi } from '../api/open-api.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'

const TEXT = { n: { type: 'string' } }
const FOLLOWERS = {
  counts: { triggers: [{ after: 'source', input: { n: '${{ number(after.output.n) }}' } }] },
  declares: { input: TEXT, triggers: [{ after: 'source', input: '${{ after.output }}' }] },
  waits: {
    input: TEXT,
    concurrency: { key: '${{ input.n }}', limit: 1 },
    triggers: [{ after: 'source', input: { n: '${{ after.output.n }}' } }],
  },
  // The last follower: everything that could block it comes before it.
  zeal: { triggers: [{ after: 'source' }] },
}

test('on PostgreSQL a NUL in a result keeps no other job from running after it', async (t) => {
  const { call, startWorker } = await openApi(t, { store: await postgresUrl() })
  await startWorker({ handlers: { source: () => ({ n: 'a\0', 'k\0': 1 }), zeal: () => null } })
  for (const [name, more] of Object.entries(FOLLOWERS)) {
    const { status, body } = await call('PUT', `/v1/jobs/${name}`, {
      body: { task: name, ...more },
    })
    assert.ok(status < 300, JSON.stringify(body))
  }
  await call<SubmitAnswer>('POST', '/v1/runs', { body: { job: 'source' } })
  const settled = (name: string): Promise<WireFollowUp> =>
    waitFor(
      async () => {
        const { body } = await call<WireJob>('GET', `/v1/jobs/${name}`)
        return body.follow_ups?.find(({ run, reason }) => run ?? reason)
      },
      { what: `${name} to run or to say why not` },
    )
  assert.ok((await settled('zeal')).run)
  assert.match((await settled('counts')).reason ?? '', /"a\uFFFD" is not a number/)
  assert.match((await settled('declares')).reason ?? '', /input\.k\uFFFD is not an input/)
  assert.match((await settled('waits')).reason ?? '', /invalid byte sequence/)
})
