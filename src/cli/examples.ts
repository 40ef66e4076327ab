import type { Command } from 'commander'

/** One or two lines per command, shown below its help. Not wrapped, so that they can be copied. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  up: ['up', 'up --port 8080 --data /var/lib/punctual --slots 16'],
  server: ['server --listen 0.0.0.0:7420 --tls-cert cert.pem --tls-key key.pem'],
  worker: ['worker --server https://punctual.internal:7420 --label gpu=true --slots 4'],
  db: ['db backup /backups/punctual-today'],
  'db backup': ['db backup /backups/punctual-today', 'db backup /backups/x --with-secret-key'],
  exec: ['exec -- make test', 'cat query.sql | punctual exec --label db=main -- psql'],
  run: ['run etl --date 2026-01-31 --wait', 'run --timeout 10m --tag team=data -- ./report.sh'],
  logs: ['logs @last -f', 'logs nightly --step load', "logs etl@last --grep 'ERROR'"],
  wait: ['wait @last --timeout 10m'],
  every: [
    "every '15 minutes' -- ./poll.sh",
    "every 'weekdays at 09:05' report --zone Europe/Athens",
  ],
  at: ["at 'tomorrow 09:00' report", "at 'in 2 hours' -- ./remind.sh"],
  validate: ['validate', 'validate jobs/etl.job.yaml'],
  plan: ['plan jobs', 'plan jobs --prune --exit-code'],
  apply: ['apply jobs', 'apply jobs --prune'],
  export: ['export etl > etl.job.yaml', 'export --to jobs'],
  restore: ['restore etl --to 3'],
  schema: ['schema > job.schema.json'],
  rm: ['rm old-report', 'rm old-report --cancel'],
  ls: ['ls', 'ls -o json'],
  runs: ['runs state:failed since:24h', "runs 'job:etl-*' -n 100 -o name"],
  ps: ['ps'],
  show: ['show etl', 'show @last -o json'],
  why: ['why @last', 'why etl/nightly'],
  schedules: ['schedules', 'schedules etl', 'schedules rm etl/nightly'],
  'schedules rm': ['schedules rm etl/nightly'],
  next: ['next', 'next etl -n 20', "next '0 9 * * 1-5' --zone Europe/Athens"],
  skip: ['skip etl/nightly', 'skip @last load'],
  history: ['history etl --since 7d'],
  away: ['away --since 3d'],
  forecast: ['forecast --days 30', 'forecast etl'],
  cancel: ['cancel @last', 'cancel @last --step load'],
  retry: ['retry @last', 'retry @last --failed'],
  replay: ['replay @last -i date=2026-02-01', 'replay @last --job-version 3'],
  steps: ['steps @last', 'steps @last load', 'steps @last --state failed'],
  graph: ['graph etl'],
  approve: ['approve @last', "approve @last publish -i version=1.2 -m 'looks good'"],
  refuse: ["refuse @last publish -m 'not today'"],
  pause: ["pause etl --until 'tomorrow 09:00'", 'pause --queue mail'],
  resume: ['resume etl', 'resume --all'],
  backfill: ['backfill etl --from 2026-01-01T00:00 --dry-run', 'backfill ls'],
  'backfill ls': ['backfill ls'],
  'backfill show': ['backfill show bkf_00f3k9m2q7x'],
  'backfill cancel': ['backfill cancel bkf_00f3k9m2q7x'],
  import: ['import crontab --dry-run'],
  'import crontab': ['import crontab --dry-run', 'import crontab --system /etc/crontab'],
  context: ['context add prod https://jobs.internal:7420', 'context use prod'],
  'context ls': ['context ls'],
  'context use': ['context use prod', 'context use --none'],
  'context add': ['context add prod https://jobs.internal:7420'],
  'context rm': ['context rm prod'],
  queue: ['queue ls', 'queue set mail --rate 100/1m'],
  'queue ls': ['queue ls'],
  'queue set': ['queue set mail --rate 100/1m --burst 5', 'queue set mail --rate none'],
  token: ['token create ci --role operator', 'token ls'],
  'token create': ['token create ci --role operator --expires 90d'],
  'token ls': ['token ls'],
  'token revoke': ['token revoke tok_1'],
  api: ['api GET /v1/queues', `api PUT /v1/jobs/hello -d '{"run": "echo hello"}'`],
  secret: ['secret set PGPASSWORD', 'secret ls'],
  'secret set': ['secret set PGPASSWORD', 'cat key.pem | punctual secret set TLS_KEY'],
  'secret ls': ['secret ls'],
  'secret rm': ['secret rm PGPASSWORD'],
  'secret new-key': ['secret new-key new-secret-key'],
  'secret rotate-key': ['secret rotate-key'],
  webhook: ['webhook add alerts https://example.com/hook', 'webhook deliveries alerts'],
  'webhook add': ["webhook add alerts https://example.com/hook --job 'etl-*'"],
  'webhook ls': ['webhook ls'],
  'webhook show': ['webhook show alerts'],
  'webhook test': ['webhook test alerts'],
  'webhook rotate': ['webhook rotate alerts'],
  'webhook rm': ['webhook rm alerts'],
  'webhook deliveries': ['webhook deliveries alerts'],
  'webhook redeliver': ['webhook redeliver alerts dlv_00f3k9m2q7x'],
  doctor: ['doctor', 'doctor -o json'],
  completion: ['source <(punctual completion bash)'],
  version: ['version'],
}

/** Appends its examples to the help of every command. */
export function addExamples(program: Command): void {
  for (const { path, command } of commandsOf(program)) {
    const lines = (EXAMPLES[path] ?? []).map(
      (line) => `  ${/(?<![\w/.-])punctual /.test(line) ? line : `punctual ${line}`}`,
    )
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  }
}

interface PlacedCommand {
  /** Without the name of the program: `queue set`. */
  readonly path: string
  readonly command: Command
}

export function commandsOf(parent: Command, prefix = ''): PlacedCommand[] {
  return parent.commands.flatMap((command) => {
    const path = `${prefix}${command.name()}`
    return [{ path, command }, ...commandsOf(command, `${path} `)]
  })
}
