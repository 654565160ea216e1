/** Nobody has to wait for the promise: where it rejects, that is no error of the page. */
export function unawaited<X>(promise: Promise<X>): Promise<X> {
  promise.catch(() => {});
  return promise;
}
