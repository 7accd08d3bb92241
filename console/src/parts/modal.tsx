/** Dialogs, drawers and popovers. What draws them is loaded on first use, or ahead, behind the first screen. */
import { useParams } from '@tanstack/react-router';
import { useRef, useState, type ComponentType, type ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { words } from '../words/words.ts';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';
import { ObjectLink, PageHead, type ObjectId } from './texts.tsx';

export const Modal = later(async () => (await import('./windows.tsx')).ModalWindow);

export const LaterPopover = later(async () => (await import('./windows.tsx')).PopoverWindow);

/** What the address opens over its list; closing it takes it out of the address. */
export const Drawer = ({
  title,
  ...shown
}: Readonly<Record<'children', ReactNode>> & {
  readonly title: string;
  readonly head?: ReactNode;
}) => {
  const { set } = useAddress();
  return <Modal side title={title} onClose={() => set({ open: undefined })} {...shown} />;
};

interface ShownObject {
  readonly name: string;
  readonly view: ComponentType<ObjectId>;
}

export const ObjectPage = ({ name, view: View }: ShownObject) => {
  const { merchantId = '', id = '' }: { merchantId?: string; id?: string } = useParams({
    strict: false,
  });
  return (
    <>
      <PageHead name={name} />
      <View merchantId={merchantId} id={id} />
    </>
  );
};

/** The object that the address opens over its list, with the way to its page where it has one. */
export const ObjectDrawer = ({
  name,
  page,
  view: View,
}: ShownObject & { readonly page?: '/payments/$merchantId/$id' | '/payouts/$merchantId/$id' }) => {
  const { search } = useAddress();
  const [merchantId, id] = (search.open ?? '').split('/');
  if (merchantId === undefined || id === undefined) return null;
  const head = page && (
    <ObjectLink
      className="icon-button"
      to={page}
      merchantId={merchantId}
      id={id}
      title={words.payment.open}
    >
      <Icon name="expand" />
    </ObjectLink>
  );
  return (
    <Drawer title={name} head={head}>
      <View merchantId={merchantId} id={id} />
    </Drawer>
  );
};

export const PopoverButton = ({
  className,
  title,
  face,
  children,
}: {
  readonly className: string;
  /** The name of the dialog, and of a button that shows no text. */
  readonly title: string;
  readonly face: ReactNode;
  readonly children: (close: () => void) => ReactNode;
}) => {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={className === 'icon-button' ? title : undefined}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        {face}
      </button>
      {isOpen && (
        <LaterPopover title={title} trigger={button} close={close}>
          {children(close)}
        </LaterPopover>
      )}
    </>
  );
};
