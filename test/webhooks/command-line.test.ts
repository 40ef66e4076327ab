import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireDelivery, WireWebhook } from '../../src/core/webhook/webhook-views.ts'
import { openHome } from '../support/punctual-home.ts'
import { assertSigned, openReceiver } from './receiver.ts'

test('a webhook is created, tested, shown, given a new secret and removed on the command line', async (t) => {
  const home = openHome(t)
  const receiver = await openReceiver(t)
  await home.up('--allow-address', receiver.address, '--allow-host', 'a.example')
  const punctual = (...argv: string[]) => home.run(['webhook', ...argv])
  const run = async (...argv: string[]) => {
    const { code, out, err } = await punctual(...argv)
    assert.equal(code, 0, err)
    return out
  }

  assert.match((await punctual('ls')).err, /No webhooks yet/)
  const secret = (await run('add', 'pager', receiver.url, '--job', 'etl-*', '--job', 'x')).trim()
  const taken = await punctual('add', 'pager', receiver.url)
  assert.deepEqual([taken.code, /webhook_exists/.test(taken.err)], [9, true])
  assert.match(await run('ls'), /pager +enabled +run\.failed,run\.recovered +etl-\*,x/)

  assert.match(await run('test', 'pager'), /^dlv_\w{11} delivered: it answered 204\n$/)
  const [tested] = await receiver.count(1)
  assertSigned(tested!, secret)

  receiver.behave((response) => void response.writeHead(500).end())
  const failing = await punctual('test', 'pager')
  assert.equal(failing.code, 1)
  assert.match(failing.out, /^dlv_\w{11} pending: it answered 500; next try \d{4}-/)
  assert.match(await run('show', 'pager'), /state +failing/)

  const shown = await run('deliveries', 'pager', '-o', 'json')
  const deliveries = JSON.parse(shown) as WireDelivery[]
  assert.deepEqual(
    deliveries.map(({ event, status }) => [event, status]),
    [
      ['webhook.test', 500],
      ['webhook.test', 204],
    ],
  )
  receiver.behave((response) => void response.end())
  assert.match(await run('redeliver', 'pager', deliveries[0]!.id), /delivered: it answered 200/)

  const next = (await run('rotate', 'pager', '--keep', '1h')).trim()
  assert.notEqual(next, secret)
  const replaced = await run('add', 'pager', receiver.url, '--replace', '--disabled', '-o', 'json')
  assert.equal((JSON.parse(replaced) as WireWebhook).enabled, false)
  assert.equal((await punctual('redeliver', 'pager', 'dlv_00000000001')).code, 6)
  await run('rm', 'pager')
  assert.equal((await punctual('rm', 'pager')).code, 6)
})
