import { EXIT } from '../../cli/errors/exit-codes.ts'
import { Failure } from '../../cli/errors/failure.ts'
import { explainSystemError } from '../../cli/errors/system-error.ts'
import { StoreError } from '../../store/port.ts'

const SETTING = '--store or PUNCTUAL_STORE'

/** Explains why PostgreSQL could not be opened, with a hint. Never shows the password. */
export function explainDatabaseFailure(error: unknown, url: string): unknown {
  if (!(error instanceof StoreError) || error.trouble || error.outcome !== 'unavailable')
    return error
  const { where, user, database } = partsOf(url)
  const failed = (what: string, hint: string) =>
    new Failure(`${where} ${what}`, {
      exitCode: EXIT.unexpected,
      code: 'store_unavailable',
      hint,
      cause: error,
    })
  const { code } = (error.cause ?? {}) as { code?: string }
  if (code === '28P01' || code === '28000') {
    return failed(`does not let the user ${user} in`, `Correct user and password in ${SETTING}.`)
  }
  if (code === '3D000') {
    return failed(`has no database ${database}`, `Create it: createdb ${database}`)
  }
  if (code === '42501') {
    return failed(
      `refuses: ${error.message}`,
      `Let the user create a schema: GRANT CREATE ON DATABASE ${database} TO ${user}`,
    )
  }
  const system = explainSystemError(error.cause)
  if (!system) return failed(`cannot be used: ${error.message}`, `Check ${SETTING}.`)
  const hint = `Start PostgreSQL, or correct ${SETTING}.`
  return failed(`cannot be reached: ${system.message}`, hint)
}

function partsOf(text: string): { where: string; user: string; database: string } {
  const url = URL.parse(text)
  const host = url?.hostname ? ` at ${url.hostname}:${url.port || '5432'}` : ''
  return {
    where: `PostgreSQL${host}`,
    user: decodeURIComponent(url?.username || 'NAME'),
    database: decodeURIComponent(url?.pathname.slice(1) || 'NAME'),
  }
}
