import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openHome } from '../support/punctual-home.ts'

const JOBS = 20
const SCHEDULES_EACH = 50

/** Every kind of rule, each different from the others. */
function schedule(number: number): object {
  const name = `s${number}`
  const [minute, hour, day] = [number % 60, number % 24, (number % 28) + 1]
  const rules = [
    { cron: `${minute} ${hour} * * *`, zone: 'America/New_York' },
    { cron: `*/${(number % 30) + 1} * * * *`, zone: 'Europe/London' },
    { cron: `${minute} ${hour} ${day} * *`, zone: 'Australia/Lord_Howe' },
    { cron: `${minute} 9-17 * * 1-5`, zone: 'Asia/Tokyo' },
    { every: `${(number % 90) + 1}s` },
  ]
  return { name, ...rules[number % rules.length] }
}

/** Duration of `punctual forecast --days 365` over 1,000 schedules, from start to exit. */
export async function timeYearAhead(): Promise<{ ms: number; schedules: number }> {
  const endings: (() => Promise<void>)[] = []
  const home = openHome({ after: (end) => void endings.push(end) })
  try {
    const address = await home.up()
    const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    for (let job = 0; job < JOBS; job += 1) {
      const own = Array.from({ length: SCHEDULES_EACH }, (_, n) =>
        schedule(job * SCHEDULES_EACH + n),
      )
      const body = JSON.stringify({ run: 'true', schedule: own })
      const answer = await fetch(`${address}/v1/jobs/j${job}`, { method: 'PUT', headers, body })
      assert.ok(answer.ok, `${answer.status} ${await answer.text()}`)
    }
    const env = { PUNCTUAL_SERVER: address, PUNCTUAL_TOKEN: token }
    const startedMs = performance.now()
    const { code, out, err } = await home.run(['forecast', '--days', '365', '-o', 'json'], env)
    const ms = performance.now() - startedMs
    assert.equal(code, 0, err)
    const { schedules, more } = JSON.parse(out) as { schedules: unknown[]; more: number }
    return { ms, schedules: schedules.length + more }
  } finally {
    for (const end of endings) await end()
  }
}
