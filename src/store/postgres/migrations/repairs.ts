import { statementOf } from '../../migrations.ts'
import { firstSchema } from './0001-first-schema.ts'
import { processes } from './0002-processes.ts'
import { webhooks } from './0006-webhooks.ts'
import { plainViews } from './0011-plain-views.ts'
import { workflows } from './0014-workflows.ts'

export type RunStatement = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/**
 * Brings the schema of an earlier variant of a migration to what the migration creates today. Only
 * migrations that were edited before digests were stored have a repair; there will be no others.
 * `statements` reads the schema first and is empty when there is nothing to repair.
 */
export interface Repair {
  readonly version: number
  readonly statements: (run: RunStatement) => Promise<readonly string[]>
}

export const REPAIRS: readonly Repair[] = [
  { version: 1, statements: gateFunction },
  {
    version: 2,
    statements: async (run) =>
      (await hasRelation(run, 'log_chunk'))
        ? []
        : [textOf(processes, 'CREATE TABLE log_chunk'), textOf(processes, 'DO $$')],
  },
  {
    version: 6,
    statements: async (run) =>
      (await hasRelation(run, 'delivery_next'))
        ? []
        : [textOf(webhooks, 'CREATE INDEX delivery_next')],
  },
  {
    version: 9,
    statements: async (run) =>
      (await hasColumn(run, 'session', 'trouble'))
        ? [`ALTER TABLE session RENAME COLUMN trouble TO quarantined`]
        : [],
  },
  {
    version: 11,
    statements: async (run) => [...(await lastHeard(run)), ...(await firstFire(run))],
  },
  {
    version: 14,
    statements: async (run) =>
      (await viewText(run, 'job_runs')).includes('began_at')
        ? []
        : [textOf(workflows, 'CREATE OR REPLACE VIEW job_runs')],
  },
]

/** Before 8a5271b, ticks called a function of another name. */
async function gateFunction(run: RunStatement): Promise<string[]> {
  const drop = (await hasFunction(run, 'meet_gate()')) ? [`DROP FUNCTION meet_gate()`] : []
  if (await hasFunction(run, 'fail_hope(text)')) return drop
  return [...drop, textOf(firstSchema, 'CREATE FUNCTION fail_hope')]
}

/** Before 17550e6, sessions did not record when they were last heard from. */
async function lastHeard(run: RunStatement): Promise<string[]> {
  if (await hasColumn(run, 'session', 'heard_at')) return []
  return [
    textOf(plainViews, 'ALTER TABLE session ADD COLUMN heard_at'),
    replacing(textOf(plainViews, 'CREATE VIEW workers')),
  ]
}

/** Before 01092e3, the view of jobs left out schedules that share a name. */
async function firstFire(run: RunStatement): Promise<string[]> {
  if (!(await viewText(run, 'jobs')).includes(`'first-fire'`)) return []
  return [replacing(textOf(plainViews, 'CREATE VIEW jobs'))]
}

/** Replaced and not dropped: a view keeps the rights that were granted on it. */
function replacing(sql: string): string {
  return sql.replace('CREATE VIEW', 'CREATE OR REPLACE VIEW')
}

type Statements = { readonly statements: (context: { nowMs: number }) => readonly string[] }

/** No statement of a repair depends on the clock. */
function textOf(migration: Statements, beginning: string): string {
  return statementOf(migration.statements({ nowMs: 0 }), beginning)
}

// The search path of a connection is its schema and nothing else.

async function hasRelation(run: RunStatement, name: string): Promise<boolean> {
  return isTrue(run, `SELECT to_regclass($1) IS NOT NULL AS yes`, [name])
}

async function hasFunction(run: RunStatement, signature: string): Promise<boolean> {
  return isTrue(run, `SELECT to_regprocedure($1) IS NOT NULL AS yes`, [signature])
}

async function hasColumn(run: RunStatement, table: string, column: string): Promise<boolean> {
  return isTrue(
    run,
    `SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2
                       AND NOT attisdropped) AS yes`,
    [table, column],
  )
}

async function isTrue(
  run: RunStatement,
  text: string,
  values: readonly unknown[],
): Promise<boolean> {
  const [row] = await run<{ yes: boolean }>(text, values)
  return row!.yes
}

async function viewText(run: RunStatement, name: string): Promise<string> {
  const [row] = await run<{ text: string }>(`SELECT pg_get_viewdef(to_regclass($1)) AS text`, [
    name,
  ])
  return row!.text
}
