/** An exchange with an acquirer's API: the request and its answer, without their transport. */

export interface ApiRequest {
  /** Who asks. */
  readonly account: string;
  readonly method: string;
  /** After the base address, as `/payments`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly key: string | null;
  readonly body: any;
}

export interface ApiResponse {
  readonly status: number;
  readonly body: any;
}
