import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { skipWithout } from '../support/skip-without.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/reference/webhooks.md'), 'utf8')
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const BODY = JSON.stringify({ type: 'run.failed', data: { message: 'état — 東京' } })

function example(language: string): string {
  const code = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(PAGE)?.[1]
  assert.ok(code, `the page has no example in ${language}`)
  return code
}

/** Each reads secret, headers and body from its input, and prints the message type. */
const PROGRAMS = {
  js: (code: string) => [
    process.execPath,
    '--input-type=module',
    '-e',
    `${code}
     import { readFileSync } from 'node:fs'
     const { secret, headers, body } = JSON.parse(readFileSync(0, 'utf8'))
     console.log(verify(secret, headers, body).type)`,
  ],
  python: (code: string) => [
    'python3',
    '-c',
    `${code}
import sys
given = json.load(sys.stdin)
print(verify(given["secret"], given["headers"], given["body"].encode())["type"])`,
  ],
}

function signed(changes: Record<string, string> = {}, at = Math.floor(Date.now() / 1_000)) {
  const key = Buffer.from(SECRET.slice(6), 'base64')
  const mac = createHmac('sha256', key).update(`dlv_1.${at}.${BODY}`).digest('base64')
  return {
    'webhook-id': 'dlv_1',
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} v1,${mac}`,
    ...changes,
  }
}

const LONG_AGO = Math.floor(Date.now() / 1_000) - 3_600
const table: [why: string, given: object, isGood: boolean][] = [
  ['a message signed with one of two secrets', {}, true],
  ['another secret', { secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` }, false],
  ['another text', { body: `${BODY} ` }, false],
  ['another id', { headers: signed({ 'webhook-id': 'dlv_2' }) }, false],
  ['no signature', { headers: signed({ 'webhook-signature': '' }) }, false],
  ['half a signature', { headers: signed({ 'webhook-signature': 'v1,AAAA' }) }, false],
  ['a message of an hour ago', { headers: signed({}, LONG_AGO) }, false],
]

for (const language of ['js', 'python'] as const) {
  const skip = language === 'python' && skipWithout('python3')
  for (const [why, given, isGood] of table) {
    test(`the example in ${language} ${isGood ? 'takes' : 'refuses'} ${why}`, { skip }, () => {
      const [command = '', ...args] = PROGRAMS[language](example(language))
      const input = JSON.stringify({ secret: SECRET, headers: signed(), body: BODY, ...given })
      const { status, stdout, stderr } = spawnSync(command, args, { input, encoding: 'utf8' })
      assert.equal(status === 0, isGood, stderr)
      assert.equal(stdout.trim(), isGood ? 'run.failed' : '')
    })
  }
}
