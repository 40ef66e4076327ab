// Shows that the invariants detect mistakes: each history is one mistake away from a correct one.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { postgresUrl } from '../../support/servers.ts'
import { withClient } from '../dump-postgres.ts'
import { everySecondInvariants } from './every-second-invariants.ts'
import { countOrphaned, type RecordedStart, startInvariants } from './start-invariants.ts'

/**
 * Two schedules, created 0.5 s after 1970 began. The first fired six times. The second fired, missed three
 * seconds, fired late, and was blocked by its own run.
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

/** The invariants broken by the correct history after `planted` is executed. */
async function judged(planted = ''): Promise<string[]> {
  return withClient(url, async (client) => {
    await client.query(`BEGIN; ${GOOD}; ${planted}`)
    const violations = await everySecondInvariants(client, 6_000)
    await client.query('ROLLBACK')
    return [...new Set(violations.map((line) => line.split(':')[0] as string))]
  })
}

const ONE_OUTCOME = 'every due time has exactly one outcome'
const ONE_RUN = 'a fired time is exactly one run with that due time'
const RUN_OF_A_TIME = 'every run belongs to a due time'
const NEXT = 'the next time is the first one without a record'

test('a correct history has no violations', async () => {
  assert.deepEqual(await judged(), [])
})

test('a missing time is reported, in the middle and at either end', async () => {
  for (const time of [1_000, 3_000, 6_000]) {
    const planted = `DELETE FROM occurrence WHERE schedule_id = 1 AND nominal_at = ${time};
                     DELETE FROM run WHERE id = 100 + ${time} / 1000`
    const atTheEnd = time === 6_000 ? [NEXT] : []
    assert.deepEqual(await judged(planted), [ONE_OUTCOME, ...atTheEnd])
  }
})

test('a schedule without any record is reported', async () => {
  const planted = `DELETE FROM occurrence WHERE schedule_id = 1; DELETE FROM run WHERE id < 200`
  assert.deepEqual(await judged(planted), [ONE_OUTCOME, NEXT])
})

test('a time with two records is reported: twice by itself, and once more in a range', async () => {
  const planted = `UPDATE occurrence SET until_at = 5000, count = 4 WHERE id = 900`
  assert.deepEqual(await judged(planted), [ONE_OUTCOME])
})

test('a time that became two runs is reported', async () => {
  const planted = `INSERT INTO run SELECT 150, created_at, due_at, timeout_ms, retry_of, project_id,
                          job_id, lane_id, minted_by, rank FROM run WHERE id = 103`
  assert.deepEqual(await judged(planted), [RUN_OF_A_TIME])
})

test('a run that stands for two times is reported', async () => {
  const planted = `UPDATE occurrence SET id = 103 WHERE id = 104`
  assert.deepEqual(await judged(planted), [ONE_RUN, 'a run stands for one time', RUN_OF_A_TIME])
})

test('a time recorded as fired without a run is reported', async () => {
  assert.deepEqual(await judged(`DELETE FROM run WHERE id = 205`), [ONE_RUN])
})

test('a record for an instant that is not due is reported', async () => {
  const planted = `UPDATE occurrence SET nominal_at = 4900, until_at = 4900 WHERE id = 205;
                   UPDATE run SET due_at = 4900 WHERE id = 205`
  assert.deepEqual(await judged(planted), [
    ONE_OUTCOME,
    'no record exists for an instant that is not due',
  ])
})

test('a range with a wrong count, a missing reason and a backward step are reported', async () => {
  const planted = `UPDATE occurrence SET count = 2 WHERE id = 900;
                   UPDATE occurrence SET reason = null WHERE id = 901;
                   UPDATE occurrence SET at = 3008 WHERE id = 104`
  assert.deepEqual(await judged(planted), [
    'a range says how many times it stands for',
    'what did not simply fire has a reason',
    'a schedule goes forward only',
  ])
})

test('times that are void because the clock was set back are not violations', async () => {
  const planted = `
    UPDATE occurrence SET until_at = 4000, count = null, at = 99009 WHERE id = 900;
    INSERT INTO run (id, created_at, due_at, project_id, job_id, lane_id, minted_by, rank)
    VALUES (300, 99000, 99000, 1, 1, 1, 1, 1);
    INSERT INTO void_occurrence (schedule_id, nominal_at, until_at, id, at, voided_at, project_id,
                                 version, count, outcome)
    VALUES (2, 99000, 99000, 300, 99009, 4500, 1, 1, 1, 0)`
  assert.deepEqual(await judged(planted), [])
  const start = [{ runId: 300, atMs: 99_010 }]
  const found = await withClient(url, async (client) => {
    await client.query(`BEGIN; ${GOOD}; ${planted}`)
    const violations = await startInvariants(client, start, [])
    await client.query('ROLLBACK')
    return violations
  })
  assert.deepEqual(found, [])
})

test('a next time that repeats or skips a time is reported', async () => {
  for (const next of [6_000, 8_000]) {
    const planted = `UPDATE schedule_next SET nominal_at = ${next} WHERE schedule_id = 2`
    assert.deepEqual(await judged(planted), [NEXT])
  }
})

test('a run that starts before its time is reported, and one that belongs to no time', async () => {
  const judgedStart = (start: RecordedStart, leapsAtMs: readonly number[] = []) =>
    withClient(url, async (client) => {
      await client.query(`BEGIN; ${GOOD}`)
      const violations = await startInvariants(client, [start], leapsAtMs)
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

test('a lease of a dead node is reported', async () => {
  await withClient(url, async (client) => {
    await client.query(`BEGIN; ${GOOD};
      INSERT INTO node (slot, name, alive, released, expires_at, id_mark)
      VALUES (901, 'here', true, false, 9000, 0), (902, 'gone', false, false, 9000, 0);
      INSERT INTO lease (run_id, fence, session, pos, claim_no, started_at, node, project_id, lane_id,
                         attempt, lost, rank, keyed)
      SELECT slot, 1, 1, 1, 1, 1, id, 1, 1, 1, 0, 1, false FROM node WHERE slot > 900`)
    assert.equal(await countOrphaned(client), 1)
    await client.query('ROLLBACK')
  })
})
