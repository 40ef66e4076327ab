// Proof that the judge would notice: each history is one mistake away from a good one.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { postgresUrl } from '../../support/servers.ts'
import { withClient } from '../dump-postgres.ts'
import { everySecondLaws } from './every-second-invariants.ts'
import { countForsaken, type Start, startLaws } from './start-invariants.ts'

/**
 * Two schedules, made half a second after 1970 began. The first fired six times. The second fired,
 * was away for three seconds, fired late, and was in its own way.
 */
const GOOD = `
  INSERT INTO schedule (id, project_id, job_id, name, spec, created_at, updated_at)
  VALUES (1, 1, 1, 'one', '{}', 500, 500), (2, 1, 1, 'two', '{}', 500, 500);
  INSERT INTO schedule_next (schedule_id, version, nominal_at) VALUES (1, 1, 7000), (2, 1, 7000);
  INSERT INTO occurrence (schedule_id, nominal_at, until_at, id, at, project_id, version, count,
                          outcome, reason)
  SELECT 1, n * 1000, n * 1000, 100 + n, n * 1000 + 9, 1, 1, 1, 0, null
    FROM generate_series(1, 6) n
  UNION ALL VALUES (2, 1000, 1000, 201, 1009, 1, 1, 1, 0, null),
                   (2, 2000, 4000, 900, 11009, 1, 1, 3, 5, 'superseded'),
                   (2, 5000, 5000, 205, 11009, 1, 1, 1, 1, 'late'),
                   (2, 6000, 6000, 901, 11009, 1, 1, 1, 3, 'overlap');
  INSERT INTO run (id, created_at, due_at, project_id, job_id, lane_id, minted_by, rank)
  SELECT id, at, nominal_at, 1, 1, 1, 1, 1 FROM occurrence WHERE outcome <= 2`

let url: string
before(async () => {
  url = await postgresUrl()
  await (await openPostgresStore({ url })).close()
})

/** The names of the laws that are broken by a good history with something planted in it. */
async function judged(planted = ''): Promise<string[]> {
  return withClient(url, async (client) => {
    await client.query(`BEGIN; ${GOOD}; ${planted}`)
    const violations = await everySecondLaws(client, 6_000)
    await client.query('ROLLBACK')
    return [...new Set(violations.map((line) => line.split(':')[0] as string))]
  })
}

const ONE_FATE = 'every time has exactly one fate'
const ONE_RUN = 'a time that fired is one run, and the run of that time'
const RUN_OF_A_TIME = 'there is no run but for a time'
const NEXT = 'what comes next is the first time that nothing is told of'

test('a good history is not blamed', async () => {
  assert.deepEqual(await judged(), [])
})

test('a time that is missing is noticed, in the middle and at either end', async () => {
  for (const time of [1_000, 3_000, 6_000]) {
    const planted = `DELETE FROM occurrence WHERE schedule_id = 1 AND nominal_at = ${time};
                     DELETE FROM run WHERE id = 100 + ${time} / 1000`
    const atTheEnd = time === 6_000 ? [NEXT] : []
    assert.deepEqual(await judged(planted), [ONE_FATE, ...atTheEnd])
  }
})

test('a schedule of which nothing is told is noticed', async () => {
  const planted = `DELETE FROM occurrence WHERE schedule_id = 1; DELETE FROM run WHERE id < 200`
  assert.deepEqual(await judged(planted), [ONE_FATE, NEXT])
})

test('a time that is told twice is noticed: by itself and in a range', async () => {
  const planted = `UPDATE occurrence SET until_at = 5000, count = 4 WHERE id = 900`
  assert.deepEqual(await judged(planted), [ONE_FATE])
})

test('a time that became two runs is noticed', async () => {
  const planted = `INSERT INTO run SELECT 150, created_at, due_at, timeout_ms, retry_of, project_id,
                          job_id, lane_id, minted_by, rank FROM run WHERE id = 103`
  assert.deepEqual(await judged(planted), [RUN_OF_A_TIME])
})

test('a run that stands for two times is noticed', async () => {
  const planted = `UPDATE occurrence SET id = 103 WHERE id = 104`
  assert.deepEqual(await judged(planted), [ONE_RUN, 'a run stands for one time', RUN_OF_A_TIME])
})

test('a time that is said to have fired without a run is noticed', async () => {
  assert.deepEqual(await judged(`DELETE FROM run WHERE id = 205`), [ONE_RUN])
})

test('a time that is none is noticed', async () => {
  const planted = `UPDATE occurrence SET nominal_at = 4900, until_at = 4900 WHERE id = 205;
                   UPDATE run SET due_at = 4900 WHERE id = 205`
  assert.deepEqual(await judged(planted), [ONE_FATE, 'nothing is told of a time that is none'])
})

test('a range that counts wrong, a missing reason and a way back are noticed', async () => {
  const planted = `UPDATE occurrence SET count = 2 WHERE id = 900;
                   UPDATE occurrence SET reason = null WHERE id = 901;
                   UPDATE occurrence SET at = 3008 WHERE id = 104`
  assert.deepEqual(await judged(planted), [
    'a range says how many times it stands for',
    'what did not simply fire has a reason',
    'a schedule goes forward only',
  ])
})

test('a time that is going to be told again, or left out, is noticed', async () => {
  for (const next of [6_000, 8_000]) {
    const planted = `UPDATE schedule_next SET nominal_at = ${next} WHERE schedule_id = 2`
    assert.deepEqual(await judged(planted), [NEXT])
  }
})

test('a run that starts before its time is noticed, or one that is of no time', async () => {
  const judgedStart = (start: Start, leapsAtMs: readonly number[] = []) =>
    withClient(url, async (client) => {
      await client.query(`BEGIN; ${GOOD}`)
      const violations = await startLaws(client, [start], leapsAtMs)
      await client.query('ROLLBACK')
      return violations
    })
  assert.deepEqual(await judgedStart({ runId: 103, atMs: 3_000 }), [])
  const early = ['no run starts before its time: run 103, by 1 ms']
  assert.deepEqual(await judgedStart({ runId: 103, atMs: 2_999 }), early)
  assert.deepEqual(await judgedStart({ runId: 103, atMs: 2_999 }, [2_000]), [])
  assert.deepEqual(await judgedStart({ runId: 103, atMs: 2_999 }, [1_000, 3_000]), early)
  const ofNoTime = ['a run that started is one of a time: run 901']
  assert.deepEqual(await judgedStart({ runId: 901, atMs: 6_500 }), ofNoTime)
})

test('a lease of a node that is gone is noticed', async () => {
  await withClient(url, async (client) => {
    await client.query(`BEGIN; ${GOOD};
      INSERT INTO node (slot, name, alive, released, expires_at, id_mark)
      VALUES (901, 'here', true, false, 9000, 0), (902, 'gone', false, false, 9000, 0);
      INSERT INTO lease (run_id, fence, session, pos, claim_no, started_at, node, project_id, lane_id,
                         attempt, lost, rank, keyed)
      SELECT slot, 1, 1, 1, 1, 1, id, 1, 1, 1, 0, 1, false FROM node WHERE slot > 900`)
    assert.equal(await countForsaken(client), 1)
    await client.query('ROLLBACK')
  })
})
