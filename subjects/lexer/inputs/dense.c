a=b+c;d-=e->f;g<<=2;if(!h||i&&j){k[l]=m?n:0;}/*o*/p.q++;
