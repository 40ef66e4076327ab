/** What a route lets its caller do. Each declares exactly one. */
export const PERMISSIONS = ['read', 'operate', 'define', 'administer', 'work'] as const
export type Permission = (typeof PERMISSIONS)[number]

/**
 * `viewer` looks. `operator` runs, cancels, retries and pauses what others have defined. `admin`
 * also says what is executed, and by whom: whoever may send a command may do anything its workers
 * may, so that is not an operator's to do. `worker` does the work and nothing else.
 */
export const ROLES = ['viewer', 'operator', 'admin', 'worker'] as const
export type Role = (typeof ROLES)[number]

const GRANTS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  operator: ['read', 'operate'],
  admin: PERMISSIONS,
  worker: ['work'],
}

export function mayDo(role: Role, permission: Permission): boolean {
  return GRANTS[role].includes(permission)
}
