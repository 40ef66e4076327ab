/** The values of expressions: plain JSON, never an object with methods. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json }

/**
 * The syntax tree of the text between `${{` and `}}`. Only brackets add depth: chains of members and operators are
 * lists, so walking the tree needs little stack.
 */
export type Node =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'input' }
  | { readonly kind: 'run'; readonly fact: RunFact }
  | { readonly kind: 'step'; readonly step: string; readonly fact: 'output' | 'state' }
  | { readonly kind: 'after'; readonly fact: AfterFact }
  | { readonly kind: 'item' }
  | { readonly kind: 'index' }
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'path'; readonly of: Node; readonly keys: readonly Node[] }
  | { readonly kind: 'not'; readonly of: Node }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Node[] }
  | {
      readonly kind: 'compare'
      readonly by: Comparison
      readonly left: Node
      readonly right: Node
    }
  | { readonly kind: 'call'; readonly name: string; readonly given: readonly Node[] }

export const COMPARISONS = ['==', '!=', '<=', '>=', '<', '>'] as const
export type Comparison = (typeof COMPARISONS)[number]

/** Facts about the run that the expression is evaluated for. */
export const RUN_FACTS = [
  'id',
  'job',
  'project',
  'wave',
  'scheduled_at',
  'scheduled_at.date',
  'scheduled_at.time',
  'scheduled_at.year',
  'scheduled_at.month',
  'scheduled_at.day',
  'scheduled_at.hour',
  'scheduled_at.minute',
  'scheduled_at.weekday',
] as const
export type RunFact = (typeof RUN_FACTS)[number]

/** Facts about the run that triggered this one. */
export const AFTER_FACTS = ['run', 'job', 'state', 'input', 'output'] as const
export type AfterFact = (typeof AFTER_FACTS)[number]

/** An expression that was parsed and checked. */
export interface Expression {
  readonly root: Node
  /** The source text between the brackets, for messages. */
  readonly text: string
  /** The field that contains it, such as `steps.load.with.date`. */
  readonly field: string
  /** Steps whose output must be known before the expression can be evaluated. */
  readonly steps: readonly string[]
}

/**
 * JSON in which a text may be an expression or contain expressions. A text that is one expression as a whole keeps
 * the type of its value.
 */
export type Template =
  | { readonly kind: 'constant'; readonly value: Json }
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'text'; readonly parts: readonly (string | Expression)[] }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Template])[] }
