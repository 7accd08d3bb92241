/** A dialog or a drawer. What draws it is loaded on first use, or ahead, behind the first screen. */
import { later } from './later.tsx';

export const Modal = later(() =>
  import('./modal-window.tsx').then(({ ModalWindow }) => ModalWindow),
);
